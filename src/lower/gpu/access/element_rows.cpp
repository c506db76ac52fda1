// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/gpu/access/element_rows.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include "arith/linear_form.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/queries.h"
#include "ir/walk/search.h"
#include "lower/effects.h"
#include "lower/gpu/access/wide_access.h"
#include "lower/let_scope.h"
#include "lower/sure_loads.h"

namespace calotype::internal {

namespace {

/// What indices of a buffer are a constant apart from.
using Base = std::pair<std::string, std::vector<LinearForm::Term>>;

bool comes_before(const LinearForm::Term &a, const LinearForm::Term &b) {
    const ExprDeepLess less;
    return less(a.value, b.value) || (!less(b.value, a.value) && a.coefficient < b.coefficient);
}

struct BaseLess {
    bool operator()(const Base &a, const Base &b) const {
        return a.first != b.first
                   ? a.first < b.first
                   : std::lexicographical_compare(a.second.begin(), a.second.end(),
                                                  b.second.begin(), b.second.end(), comes_before);
    }
};

LinearForm sorted(LinearForm form) {
    form.drop_zeros();
    std::sort(form.terms.begin(), form.terms.end(), comes_before);
    return form;
}

void add_elements(const Expr &value, SureLoads &loads, LetScope &lets, std::vector<Element> &all) {
    if (const Let *let = value.as<Let>()) {
        add_elements(let->value, loads, lets, all);
        const LetScope::Inside inside(lets, let->name, let->value);
        add_elements(let->body, loads, lets, all);
        return;
    }
    const size_t before = loads.found.size();
    loads(value);
    for (size_t i = before; i < loads.found.size(); i++) {
        all.push_back({loads.found[i], lets.expand(loads.found[i]->index)});
    }
}

void add_elements(const Stmt &s, SureLoads &loads, LetScope &lets, std::vector<Element> &all) {
    if (const Block *block = s.as<Block>()) {
        add_elements(block->first, loads, lets, all);
        add_elements(block->rest, loads, lets, all);
    } else if (const LetStmt *let = s.as<LetStmt>()) {
        add_elements(let->value, loads, lets, all);
        const LetScope::Inside inside(lets, let->name, let->value);
        add_elements(let->body, loads, lets, all);
    } else if (const Store *store = s.as<Store>()) {
        add_elements(store->value, loads, lets, all);
    }
}

/// Those of one access each that may be made earlier, each once.
std::vector<Element> elements_of(const Stmt &straight, const Scope<> &own_storage) {
    std::set<std::string> stored;
    for_each<Store>(straight, [&](const Store *op) { stored.insert(op->name); });
    SureLoads loads([&](const std::string &buffer) {
        return !stored.count(buffer) && !own_storage.contains(buffer);
    });
    LetScope lets;
    std::vector<Element> elements;
    add_elements(straight, loads, lets, elements);
    const std::vector<std::string> own_names = bound_names(straight);
    const auto stays = [&](const Element &e) {
        const Type t = e.load->type;
        return !t.is_scalar() || t.is_bool() || !is_const_one(e.load->predicate) ||
               e.most_lanes() == 1 || !e.index.defined() || !is_speculatable(e.index) ||
               uses_any_var(e.index, own_names);
    };
    elements.erase(std::remove_if(elements.begin(), elements.end(), stays), elements.end());
    return elements;
}

}  // namespace

int Element::most_lanes() const {
    return max_access_bytes / load->type.bytes();
}

bool Row::is_dense() const {
    return std::set<int64_t>(places.begin(), places.end()).size() == size_t(step);
}

int Row::lanes(int at_once) const {
    int lanes = first().most_lanes();
    while (step * at_once % lanes != 0) {
        lanes /= 2;
    }
    return lanes;
}

std::vector<Row> Row::within_steps(int64_t step) const {
    std::vector<size_t> order(elements.size());
    std::iota(order.begin(), order.end(), size_t(0));
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return places[a] < places[b]; });
    std::vector<Row> parts;
    int64_t start = 0;
    for (const size_t i : order) {
        if (parts.empty() || places[i] >= start + step) {
            parts.push_back({{}, {}, step});
            start = places[i];
        }
        parts.back().elements.push_back(elements[i]);
        parts.back().places.push_back(places[i] - start);
    }
    return parts;
}

bool is_straight(const Stmt &s) {
    if (const Block *block = s.as<Block>()) {
        return is_straight(block->first) && is_straight(block->rest);
    }
    if (const LetStmt *let = s.as<LetStmt>()) {
        return !has_effects(let->value) && is_straight(let->body);
    }
    const Store *store = s.as<Store>();
    return store && !has_effects(store->value) && !has_effects(store->index) &&
           is_const_one(store->predicate);
}

std::vector<Row> rows_of(const Stmt &straight, const Scope<> &own_storage) {
    std::vector<Row> rows;
    // The row, and where its first element lies.
    std::map<Base, std::pair<size_t, int64_t>, BaseLess> known;
    for (const Element &e : elements_of(straight, own_storage)) {
        const LinearForm form = sorted(LinearForm(e.index));
        const auto [at, is_new] = form.is_valid() ? known.try_emplace({e.load->name, form.terms},
                                                                      rows.size(), form.constant)
                                                  : std::make_pair(known.end(), true);
        if (is_new) {
            rows.push_back({{e}, {0}});
        } else {
            Row &row = rows[at->second.first];
            row.elements.push_back(e);
            row.places.push_back(form.constant - at->second.second);
        }
    }
    return rows;
}

}  // namespace calotype::internal
