// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions. Their rules turn on pairs of types rather than on shapes, and so are code.
#include "arith/simplify/fold.h"
#include "arith/simplify/simplifier.h"
#include "ir/constants.h"

namespace calotype::internal {

namespace {

// True if converting to `middle` first changes nothing in a conversion from `from` to `to`.
bool middle_is_superfluous(Type from, Type middle, Type to) {
    if (from.is_int_or_uint() && middle.is_int_or_uint() && !middle.is_bool()) {
        if (middle.can_represent(from)) {
            return true;
        }
        // Low bits survive the middle as long as it keeps all that the result needs.
        return to.is_int_or_uint() && !to.is_bool() && !from.is_bool() &&
               middle.bits() >= to.bits();
    }
    if (from.is_float() && middle.is_float()) {
        return middle.can_represent(from);
    }
    return from.is_int_or_uint() && middle.is_float() && to.is_float() &&
           middle.can_represent(from) && to.bits() <= middle.bits() && to.can_represent(from);
}

}  // namespace

Expr Simplifier::cast(Type t, const Expr &value, const ExprNode *original) {
    if (value.type() == t) {
        return value;
    }
    if (Expr folded = fold_cast(t, value); folded.defined()) {
        return folded;
    }
    if (const auto *b = value.as<Broadcast>()) {
        return broadcast(cast(t.with_lanes(b->value.type().lanes()), b->value), b->lanes);
    }
    const auto *inner = value.as<Cast>();
    if (inner && !t.is_handle() && middle_is_superfluous(inner->value.type(), inner->type, t)) {
        return cast(t, inner->value);
    }
    // A wider ramp of integers that do not overflow.
    const auto *r = value.as<Ramp>();
    if (r && t.is_int() && t.bits() >= 32 && r->type.is_int() && r->type.bits() >= 32 &&
        t.bits() > r->type.bits()) {
        const Type lane = t.with_lanes(r->base.type().lanes());
        return ramp(cast(lane, r->base), cast(lane, r->stride), r->lanes);
    }
    const auto *old = static_cast<const Cast *>(original);
    return old && old->value.same_as(value) ? Expr(original) : Cast::make(t, value);
}

// A condition as a number, compared with a constant: n(c) == 1, n(c) == 0, 0 < n(c), n(c) < 1.
// Other constants are decided by ranges.
Expr Simplifier::compare_condition(NodeKind op, const Expr &a, const Expr &b) {
    const auto *left = a.as<Cast>(), *right = b.as<Cast>();
    const auto *number = left ? left : right;
    const Expr &constant = left ? b : a;
    if (!number || !number->value.type().is_bool() || !is_const(constant)) {
        return Expr();
    }
    if (op == NodeKind::EQ && is_const_one(constant)) {
        return number->value;
    }
    if (op == NodeKind::EQ && is_const_zero(constant)) {
        return logical_not(number->value);
    }
    if (op == NodeKind::LT && left && is_const_one(constant)) {
        return logical_not(number->value);
    }
    return op == NodeKind::LT && right && is_const_zero(constant) ? number->value : Expr();
}

Expr Simplifier::visit(const Cast *op) {
    return cast(op->type, mutate(op->value), op);
}

}  // namespace calotype::internal
