// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is known of e is the range of its values in its own type, in which an operation that may wrap
// has all values of the type. So if the range fits t, the operation on the same operands gives the
// same value in t: neither wraps.
#include "arith/narrowing.h"

#include <unordered_map>

#include "arith/bounds.h"
#include "arith/constant_interval.h"
#include "ir/constants.h"
#include "ir/expr_nodes.h"
#include "ir/language/match_types.h"

namespace calotype::internal {

namespace {

class Narrower {
public:
    explicit Narrower(Type element) : element_(element) {
    }

    Expr narrow(const Expr &e) {
        const auto known = memo_.find(e.get());
        if (known != memo_.end()) {
            return known->second;
        }
        const Type t = element_.with_lanes(e.type().lanes());
        Expr result = lossless_cast(t, e);
        if (!result.defined() && e.type().is_int_or_uint() && fits(constant_bounds(e), t)) {
            result = operation(e);
        }
        memo_.emplace(e.get(), result);
        return result;
    }

private:
    template<typename Op>
    Expr binary(const Expr &a, const Expr &b) {
        const Expr narrow_a = narrow(a);
        const Expr narrow_b = narrow_a.defined() ? narrow(b) : Expr();
        return narrow_b.defined() ? Op::make(narrow_a, narrow_b) : Expr();
    }

    Expr select(const Select *op) {
        const Expr yes = narrow(op->true_value);
        const Expr no = yes.defined() ? narrow(op->false_value) : Expr();
        return no.defined() ? Select::make(op->condition, yes, no) : Expr();
    }

    Expr reduction(const VectorReduce *op) {
        const bool least = op->op == VectorReduce::Min, most = op->op == VectorReduce::Max;
        VectorReduce::Operator kind = op->op;
        if (element_.is_bool()) {
            // The smaller of two is both, the larger is either.
            kind = least ? VectorReduce::And : VectorReduce::Or;
        }
        if (!least && !most && (op->op != VectorReduce::Add || element_.is_bool())) {
            return Expr();
        }
        const Expr value = narrow(op->value);
        return value.defined() ? VectorReduce::make(kind, value, op->type.lanes()) : Expr();
    }

    Expr call(const Call *op) {
        switch (op->intrinsic) {
        case Intrinsic::widening_add:
            return binary<Add>(op->args[0], op->args[1]);
        case Intrinsic::widening_sub:
            return binary<Sub>(op->args[0], op->args[1]);
        case Intrinsic::widening_mul:
            return binary<Mul>(op->args[0], op->args[1]);
        default:
            return Expr();
        }
    }

    Expr arithmetic(const Expr &e) {
        if (const Add *op = e.as<Add>()) {
            return binary<Add>(op->a, op->b);
        }
        if (const Sub *op = e.as<Sub>()) {
            return binary<Sub>(op->a, op->b);
        }
        if (const Mul *op = e.as<Mul>()) {
            return binary<Mul>(op->a, op->b);
        }
        if (const Min *op = e.as<Min>()) {
            return binary<Min>(op->a, op->b);
        }
        if (const Max *op = e.as<Max>()) {
            return binary<Max>(op->a, op->b);
        }
        const Call *op = e.as<Call>();
        return op ? call(op) : Expr();
    }

    Expr operation(const Expr &e) {
        if (const Cast *op = e.as<Cast>()) {
            return op->type.can_represent(op->value.type()) ? narrow(op->value) : Expr();
        }
        if (const VectorReduce *op = e.as<VectorReduce>()) {
            return reduction(op);
        }
        if (const Select *op = e.as<Select>()) {
            return select(op);
        }
        return element_.is_bool() ? Expr() : arithmetic(e);
    }

    const Type element_;
    std::unordered_map<const ExprNode *, Expr> memo_;
};

}  // namespace

Expr narrow_exactly(Type t, const Expr &e) {
    const Expr by_type = lossless_cast(t, e);
    const bool same_lanes = e.defined() && t.lanes() == e.type().lanes();
    if (by_type.defined() || !same_lanes || !t.is_int_or_uint()) {
        return by_type;
    }
    return Narrower(t.element_of()).narrow(e);
}

}  // namespace calotype::internal
