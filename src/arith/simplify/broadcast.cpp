// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules of broadcast(value, lanes), and operators on two broadcasts.
#include <iterator>

#include "arith/simplify/simplifier.h"
#include "ir/queries.h"

namespace calotype::internal {

namespace {

// clang-format off
constexpr RuleText rules[] = {
    {any, "broadcast(broadcast(x, l0), l1) -> broadcast(x, fold(l0 * l1))"},
};
// clang-format on

}  // namespace

const RuleFile broadcast_rules{NodeKind::Broadcast, "broadcast", rules, std::size(rules)};

Expr Simplifier::broadcast(const Expr &value, int lanes, const ExprNode *original) {
    const Type type = value.type().with_lanes(value.type().lanes() * lanes);
    if (Expr better = rewrite(NodeKind::Broadcast, type, &value, 1, lanes); better.defined()) {
        return better;
    }
    const auto *old = static_cast<const Broadcast *>(original);
    return old && old->value.same_as(value) ? Expr(original) : Broadcast::make(value, lanes);
}

Expr Simplifier::visit(const Broadcast *op) {
    return broadcast(mutate(op->value), op->lanes, op);
}

// Computes once what is the same in all lanes. A ramp times that is a ramp, which loads and stores
// step through.
Expr Simplifier::by_broadcast(NodeKind op, const Expr &a, const Expr &b) {
    const auto *x = a.as<Broadcast>();
    const auto *y = b.as<Broadcast>();
    if (x && y && x->lanes == y->lanes) {
        return broadcast(binary(op, x->value, y->value), x->lanes);
    }
    const auto *r = x ? b.as<Ramp>() : a.as<Ramp>();
    const Broadcast *factor = x ? x : y;
    if (op == NodeKind::Mul && r && factor && r->lanes == factor->lanes &&
        r->type.is_int_or_uint() && is_pure(factor->value)) {
        return ramp(mul(r->base, factor->value), mul(r->stride, factor->value), r->lanes);
    }
    return Expr();
}

}  // namespace calotype::internal
