// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules of ramp(base, stride, lanes), and ramps compared with a bound.
#include <iterator>

#include "arith/simplify/simplifier.h"
#include "ir/constants.h"

namespace calotype::internal {

namespace {

// clang-format off
constexpr RuleText rules[] = {
    {integer, "ramp(x, 0, l0) -> broadcast(x, l0)"},
    {integer, "ramp(ramp(x, c0, l0), c1, l1) -> ramp(x, c0, fold(l0 * l1)) if c1 == c0 * l0"},
};
// clang-format on

}  // namespace

const RuleFile ramp_rules{NodeKind::Ramp, "ramp", rules, std::size(rules)};

Expr Simplifier::ramp(const Expr &base, const Expr &stride, int lanes, const ExprNode *original) {
    const Expr operands[2] = {base, stride};
    const Type type = base.type().with_lanes(base.type().lanes() * lanes);
    if (Expr better = rewrite(NodeKind::Ramp, type, operands, 2, lanes); better.defined()) {
        return better;
    }
    const auto *old = static_cast<const Ramp *>(original);
    const bool same = old && old->base.same_as(base) && old->stride.same_as(stride);
    return same ? Expr(original) : Ramp::make(base, stride, lanes);
}

Expr Simplifier::visit(const Ramp *op) {
    return ramp(mutate(op->base), mutate(op->stride), op->lanes, op);
}

// A ramp with a constant stride is below a bound in all lanes if its largest lane is, and in none
// if its smallest is not; the same with sides exchanged.
Expr Simplifier::less_by_ramp(const Expr &a, const Expr &b) {
    const auto *ramp = a.as<Ramp>() ? a.as<Ramp>() : b.as<Ramp>();
    const auto *bound = a.as<Ramp>() ? b.as<Broadcast>() : a.as<Broadcast>();
    const auto stride = ramp && bound ? as_const_int(ramp->stride) : std::nullopt;
    if (!stride || ramp->lanes != bound->lanes || ramp->type.is_uint() || ramp->type.bits() < 32) {
        return Expr();
    }
    const Expr last = add(ramp->base, make_const(ramp->base.type(), *stride * (ramp->lanes - 1)));
    const Expr lowest = *stride > 0 ? ramp->base : last;
    const Expr highest = *stride > 0 ? last : ramp->base;
    const bool ramp_is_left = a.as<Ramp>() != nullptr;
    const Expr all = ramp_is_left ? binary(NodeKind::LT, highest, bound->value)
                                  : binary(NodeKind::LT, bound->value, lowest);
    if (is_const_one(all)) {
        return const_true(a.type().lanes());
    }
    const Expr any = ramp_is_left ? binary(NodeKind::LT, lowest, bound->value)
                                  : binary(NodeKind::LT, bound->value, highest);
    return is_const_zero(any) ? const_false(a.type().lanes()) : Expr();
}

}  // namespace calotype::internal
