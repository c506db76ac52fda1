// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions over lanes that are equal or of known form.
#include "arith/simplify/simplifier.h"
#include "ir/constants.h"

namespace calotype::internal {

namespace {

bool is_idempotent(VectorReduce::Operator op) {
    return op == VectorReduce::Min || op == VectorReduce::Max || op == VectorReduce::And ||
           op == VectorReduce::Or;
}

}  // namespace

Expr Simplifier::visit(const VectorReduce *op) {
    const Expr value = mutate(op->value);
    const int lanes = op->type.lanes(), factor = value.type().lanes() / lanes;
    if (factor == 1) {
        return value;
    }
    const auto *b = value.as<Broadcast>();
    if (b && b->value.type().is_scalar()) {
        const Expr one = b->value;
        if (is_idempotent(op->op)) {
            return lanes == 1 ? one : broadcast(one, lanes);
        }
        if (op->op == VectorReduce::Add && one.type().is_int_or_uint() && !one.type().is_bool()) {
            const Expr sum = mul(one, make_const(one.type(), factor));
            return lanes == 1 ? sum : broadcast(sum, lanes);
        }
    }
    const auto *r = value.as<Ramp>();
    const auto stride = r && r->base.type().is_scalar() ? as_const_int(r->stride) : std::nullopt;
    const bool exact_ramp = stride && lanes == 1 && r->type.is_int() && r->type.bits() >= 32;
    if (exact_ramp && (op->op == VectorReduce::Min || op->op == VectorReduce::Max)) {
        const bool first = (op->op == VectorReduce::Min) == (*stride >= 0);
        return first ? r->base : add(r->base, make_const(r->base.type(), *stride * (r->lanes - 1)));
    }
    return value.same_as(op->value) ? Expr(op) : VectorReduce::make(op->op, value, lanes);
}

}  // namespace calotype::internal
