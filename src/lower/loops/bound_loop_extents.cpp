// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/loops/bound_loop_extents.h"

#include <optional>
#include <vector>

#include "arith/const_bounds.h"
#include "arith/cse.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "support/scope.h"

namespace calotype {

using namespace internal;

namespace {

constexpr int64_t max_copies = 1 << 16, max_bounded_lanes = 1024;

class BoundExtents : public Mutator {
private:
    using Mutator::visit;

    /// A let, or (no name) a condition that holds.
    struct Around {
        std::string name;
        Expr value;
    };

    Stmt visit(const LetStmt *op) override {
        around_.push_back({op->name, op->value});
        const Stmt result = Mutator::visit(op);
        around_.pop_back();
        return result;
    }

    Stmt under(const Expr &condition, const Stmt &s) {
        around_.push_back({"", condition});
        const Stmt result = mutate(s);
        around_.pop_back();
        return result;
    }

    Stmt visit(const IfThenElse *op) override {
        const Stmt then_case = under(op->condition, op->then_case);
        const Stmt else_case =
            op->else_case.defined() ? under(!op->condition, op->else_case) : Stmt();
        const bool same = then_case.same_as(op->then_case) && else_case.same_as(op->else_case);
        return same ? Stmt(op) : IfThenElse::make(op->condition, then_case, else_case);
    }

    Stmt visit(const For *op) override {
        const bool wanted =
            op->for_type == ForType::Unrolled || op->for_type == ForType::Vectorized;
        const Stmt body = mutate(op->body);
        const Expr extent = simplify(op->extent);
        const int64_t most = op->for_type == ForType::Vectorized ? max_bounded_lanes : max_copies;
        const std::optional<int64_t> bound =
            wanted && !is_const(extent) ? bound_of(extent) : std::nullopt;
        if (!bound || *bound > most) {
            return body.same_as(op->body) ? Stmt(op)
                                          : For::make(op->name, op->min, op->extent, op->for_type,
                                                      op->partition, op->device_api, body);
        }
        const Type t = op->min.type();
        const Expr inside = Variable::make(t, op->name) < op->min + op->extent;
        const Expr guard = Call::make(Bool(), Intrinsic::likely, {inside});
        return For::make(op->name, op->min, make_const(t, std::max<int64_t>(*bound, 0)),
                         op->for_type, op->partition, op->device_api,
                         IfThenElse::make(guard, body));
    }

    /// A constant that the extent never exceeds.
    std::optional<int64_t> bound_of(const Expr &extent) const {
        Scope<Interval> ranges;
        for (const Around &a : around_) {
            const Type t = a.value.type();
            if (!a.name.empty() && t.is_int() && t.is_scalar()) {
                ranges.push(a.name, make_interval(find_constant_bounds(a.value, ranges), t));
            }
        }
        // With the lets around the loop in it: in min(first + 3, last) - first both belong
        // together.
        const Expr known = expanded(extent, around_.size());
        const Expr bound = find_constant_bound(known, Direction::Upper, ranges);
        std::optional<int64_t> result = bound.defined() ? as_const_int(bound) : std::nullopt;
        for (size_t i = around_.size(); i-- > 0 && !result;) {
            if (around_[i].name.empty()) {
                result = bound_under(known, expanded(around_[i].value, i), ranges);
            }
        }
        return result;
    }

    /// The same where a condition is known to hold.
    static std::optional<int64_t> bound_under(const Expr &e, const Expr &condition,
                                              const Scope<Interval> &ranges) {
        if (!is_pure(condition) || contains_kind(condition, NodeKind::Load)) {
            return std::nullopt;
        }
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
        if (!found.value.defined()) {
            return std::nullopt;  // never run
        }
        const Expr bound = find_constant_bound(found.value, Direction::Upper, ranges);
        return bound.defined() ? as_const_int(bound) : std::nullopt;
    }

    /// With the first `count` of what is around in it.
    Expr expanded(Expr e, size_t count) const {
        for (size_t i = count; i-- > 0 && !is_repetitive(e);) {
            const Around &a = around_[i];
            // What a call gives stays a name, of which conditions may say something.
            const bool is_opaque = a.value.as<Call>() != nullptr;
            if (!a.name.empty() && uses_var(e, a.name) && !is_opaque && is_pure(a.value)) {
                e = simplify(substitute(a.name, a.value, e));
            }
        }
        return e;
    }

    std::vector<Around> around_;  ///< outermost first
};

}  // namespace

Stmt bound_loop_extents(const Stmt &s, LowerContext &) {
    return BoundExtents().mutate(s);
}

}  // namespace calotype
