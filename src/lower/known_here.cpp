// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/known_here.h"

#include <algorithm>

#include "arith/bounds.h"
#include "arith/const_bounds.h"
#include "arith/cse.h"
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

KnownHere::Inside::Inside(KnownHere &known, const LetStmt *op) : known_(known) {
    known.around_.push_back({op->name, op->value, op->value, std::nullopt});
}

KnownHere::Inside::Inside(KnownHere &known, const For *op) : known_(known) {
    known.around_.push_back({op->name, op->min, op->min + op->extent - 1, std::nullopt});
}

KnownHere::Inside::Inside(KnownHere &known, const Expr &condition) : known_(known) {
    known.around_.push_back({"", condition, condition, std::nullopt});
}

KnownHere::Inside::~Inside() {
    known_.around_.pop_back();
}

Scope<Interval> KnownHere::ranges_of_variables(const Expr &e, size_t end, Of of) const {
    Scope<Interval> ranges;
    for (const std::string &name : free_variables(e)) {
        size_t i = end;
        while (i > 0 && around_[i - 1].name != name) {
            i--;
        }
        if (i == 0 || (of == Of::Lets && !around_[i - 1].is_let())) {
            continue;
        }
        const Around &a = around_[i - 1];
        const Type t = a.first.type();
        if (!t.is_int() || !t.is_scalar()) {
            continue;
        }
        if (!a.range) {
            a.range = range(a.first, i - 1);
            if (!a.last.same_as(a.first)) {
                a.range->max = range(a.last, i - 1).max;
            }
        }
        ranges.push(name, make_interval(*a.range, t));
    }
    return ranges;
}

ConstantInterval KnownHere::range(const Expr &e, size_t end) const {
    return constant_bounds(e, ranges_of_variables(e, end));
}

/// With the lets outside of around_[end] in it.
Expr KnownHere::expanded(Expr e, size_t end) const {
    for (size_t i = end; i-- > 0 && !is_repetitive(e);) {
        const Around &a = around_[i];
        // What a call gives stays a name, of which conditions may say something.
        const bool is_opaque = a.first.as<Call>() != nullptr;
        if (a.is_let() && uses_var(e, a.name) && !is_opaque && is_pure(a.first)) {
            e = simplify(substitute(a.name, a.first, e));
        }
    }
    return e;
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
