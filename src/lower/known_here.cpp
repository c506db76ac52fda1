// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/known_here.h"

#include <algorithm>

#include "arith/bounds.h"
#include "arith/const_bounds.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "lower/effects.h"

namespace calotype::internal {

namespace {

/// e, simplified where the condition holds; undefined if it never does.
Expr simplified_under(const Expr &condition, const Expr &e) {
    // The simplifier uses what a statement's condition says inside of it.
    class FindValue : public Visitor {
    public:
        Expr value;

    private:
        using Visitor::visit;
        void visit(const Store *op) override {
            value = op->value;
        }
    } found;
    const Stmt holder = Store::make("bounded", e, 0, const_true(), Alignment());
    found(simplify(IfThenElse::make(remove_likelies(condition), holder)));
    return found.value;
}

std::optional<int64_t> constant_upper_bound(const Expr &e, const Scope<Interval> &ranges) {
    const Expr bound = find_constant_bound(e, Direction::Upper, ranges);
    return bound.defined() ? as_const_int(bound) : std::nullopt;
}

}  // namespace

bool KnownHere::Around::is_integer() const {
    const Type t = first.type();
    return !name.empty() && t.is_scalar() && (t.is_int() || t.is_uint());
}

void KnownHere::push(const std::string &name, const Expr &first, const Expr &last) {
    around_.push_back({name, first, last, std::nullopt, std::nullopt});
    lets_.push(name, around_.back().is_let() && is_pure(first) ? first : Expr());
}

KnownHere::Inside::Inside(KnownHere &known, const LetStmt *op) : known_(known) {
    known.push(op->name, op->value, op->value);
}

KnownHere::Inside::Inside(KnownHere &known, const For *op) : known_(known) {
    known.push(op->name, op->min, op->min + op->extent - 1);
}

KnownHere::Inside::Inside(KnownHere &known, const Expr &condition) : known_(known) {
    known.push("", condition, condition);
}

KnownHere::Inside::Inside(KnownHere &known, const std::string &name, const Expr &extent)
    : known_(known) {
    known.push(name, 0, extent - 1);
    known.around_.back().interval = Interval(0, simplify(extent - 1));
}

KnownHere::Inside::~Inside() {
    known_.around_.pop_back();
    known_.lets_.pop();
}

const KnownHere::Around *KnownHere::find(const std::string &name, size_t end, size_t *index) const {
    for (size_t i = end; i-- > 0;) {
        if (around_[i].name == name) {
            *index = i;
            return &around_[i];
        }
    }
    return nullptr;
}

bool KnownHere::binds(const std::string &name) const {
    size_t index = 0;
    const Around *a = find(name, around_.size(), &index);
    return a && a->is_integer();
}

Scope<Interval> KnownHere::ranges_of_variables(const Expr &e, size_t end, Of of) const {
    Scope<Interval> ranges;
    for (const std::string &name : free_variables(e)) {
        size_t i = 0;
        const Around *a = find(name, end, &i);
        if (!a || (of == Of::Lets && !a->is_let()) || !a->is_integer() ||
            !a->first.type().is_int()) {
            continue;
        }
        if (!a->range) {
            a->range = range(a->first, i);
            if (!a->last.same_as(a->first)) {
                a->range->max = range(a->last, i).max;
            }
        }
        ranges.push(name, make_interval(*a->range, a->first.type()));
    }
    return ranges;
}

ConstantInterval KnownHere::range(const Expr &e, size_t end) const {
    return constant_bounds(e, ranges_of_variables(e, end));
}

/// With the lets outside of around_[end] in it. What a call gives stays a name, of which conditions
/// may say something.
Expr KnownHere::expanded(const Expr &e, size_t end) const {
    const Expr result = lets_.expand_while_small(e, {.end = end, .keeps_calls = true});
    return result.same_as(e) ? e : simplify(result);
}

// Differences of lets may cancel.
Interval KnownHere::interval(const Expr &e, size_t end) const {
    constexpr int small = 256;
    const Expr expanded = simplify(lets_.expand_while_small(e, {.small = small, .end = end}));
    Scope<Interval> ranges;
    for (const std::string &name : free_variables(expanded)) {
        size_t i = 0;
        const Around *a = find(name, end, &i);
        if (!a || !a->is_integer()) {
            continue;
        }
        if (!a->interval) {
            const Interval first = interval(a->first, i);
            a->interval = a->is_let() ? first : Interval(first.min, interval(a->last, i).max);
        }
        ranges.push(name, *a->interval);
    }
    return simplify(bounds_of_expr(expanded, ranges));
}

std::optional<int64_t> KnownHere::upper_bound(const Expr &e) const {
    // With the lets around in it: in min(first + 3, last) - first both belong together.
    const Expr known = expanded(e, around_.size());
    // Loops that stay names may cancel; else their ranges count.
    const auto bound_of = [&](const Expr &value) {
        const auto with = [&](Of of) {
            return constant_upper_bound(value, ranges_of_variables(value, around_.size(), of));
        };
        const std::optional<int64_t> by_name = with(Of::Lets);
        return by_name ? by_name : with(Of::All);
    };
    std::optional<int64_t> result = bound_of(known);
    const std::optional<int64_t> direct = range(e).max;
    if (direct) {
        result = std::min(result.value_or(*direct), *direct);
    }
    for (size_t i = around_.size(); i-- > 0 && !result;) {
        if (around_[i].name.empty()) {
            const Expr condition = expanded(around_[i].first, i);
            const Expr there =
                is_speculatable(condition) ? simplified_under(condition, known) : Expr();
            result = there.defined() ? bound_of(there) : std::nullopt;
        }
    }
    return result;
}

}  // namespace calotype::internal
