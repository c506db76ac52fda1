// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/let_scope.h"

#include <algorithm>
#include <map>
#include <set>

#include "arith/cse.h"
#include "ir/expr_nodes.h"
#include "ir/queries.h"

namespace calotype::internal {

void LetScope::push(const std::string &name, const Expr &value) {
    lets_.push_back({name, value, std::nullopt});
}

void LetScope::pop() {
    lets_.pop_back();
}

bool LetScope::binds(const std::string &name) const {
    return std::any_of(lets_.begin(), lets_.end(),
                       [&](const Definition &let) { return let.name == name; });
}

const std::vector<std::string> &LetScope::uses_of(const Definition &let) {
    if (!let.uses) {
        let.uses = free_variables(let.value);
    }
    return *let.uses;
}

std::vector<size_t> LetScope::needed_by(const Expr &e, const Limits &limits) const {
    std::vector<size_t> needed;
    const size_t end = std::min(limits.end, lets_.size());
    if (end == 0) {
        return needed;
    }
    const std::vector<std::string> used = free_variables(e);
    std::set<std::string> free(used.begin(), used.end());
    for (size_t i = end; i-- > 0 && !free.empty();) {
        const Definition &let = lets_[i];
        if (free.erase(let.name) && let.value.defined() &&
            !(limits.keeps_calls && let.value.as<Call>())) {
            needed.push_back(i);
            const std::vector<std::string> &more = uses_of(let);
            free.insert(more.begin(), more.end());
        }
    }
    return needed;
}

// From the outside in, so that each value is looked at once.
Expr LetScope::with_values(const Expr &e, const std::vector<size_t> &needed, size_t count) const {
    std::map<std::string, Expr> values;
    const auto expanded = [&](const Expr &inner, const std::vector<std::string> &uses) {
        std::map<std::string, Expr> used;
        for (const std::string &name : uses) {
            if (const auto value = values.find(name); value != values.end()) {
                used.insert(*value);
            }
        }
        return used.empty() ? inner : substitute(used, inner);
    };
    for (size_t i = count; i-- > 0;) {
        const Definition &let = lets_[needed[i]];
        values[let.name] = expanded(let.value, uses_of(let));
    }
    return expanded(e, free_variables(e));
}

Expr LetScope::expand(const Expr &e, const Limits &limits, bool *is_whole) const {
    const std::vector<size_t> needed = needed_by(e, limits);
    *is_whole = true;
    if (needed.empty()) {
        return e;
    }
    const Expr all = with_values(e, needed, needed.size());
    if (!is_repetitive(all, limits.small)) {
        return all;
    }
    *is_whole = false;
    return largest_that_is_small(e, limits, needed);
}

Expr LetScope::largest_that_is_small(const Expr &e, const Limits &limits,
                                     const std::vector<size_t> &needed) const {
    Expr result = e;
    size_t small = 0, large = needed.size();
    while (large - small > 1) {
        const size_t middle = small + (large - small) / 2;
        const Expr next = with_values(e, needed, middle);
        if (is_repetitive(next, limits.small)) {
            large = middle;
        } else {
            small = middle;
            result = next;
        }
    }
    return result;
}

Expr LetScope::expand(const Expr &e) const {
    bool is_whole = false;
    const Expr result = expand(e, Limits(), &is_whole);
    return is_whole ? result : Expr();
}

Expr LetScope::expand_while_small(const Expr &e, const Limits &limits) const {
    bool is_whole = false;
    return expand(e, limits, &is_whole);
}

}  // namespace calotype::internal
