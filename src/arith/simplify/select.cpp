// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules of select(condition, true_value, false_value).
#include <iterator>

#include "arith/simplify/simplifier.h"
#include "ir/constants.h"

namespace calotype::internal {

namespace {

// clang-format off
constexpr RuleText rules[] = {
    {any, "select(true, x, y) -> x"},
    {any, "select(false, x, y) -> y"},
    {any, "select(x, y, y) -> y"},
    {any, "select(!x, y, z) -> select(x, z, y)"},
    {integer, "select(x <= y, z, w) -> select(y < x, w, z)"},
    {any, "select(x != y, z, w) -> select(x == y, w, z)"},
    // Choices between conditions.
    {any, "select(x, true, false) -> x"},
    {any, "select(x, false, true) -> !x"},
    {any, "select(x, y, false) -> x && y"},
    {any, "select(x, true, y) -> x || y"},
    {any, "select(x, false, y) -> !x && y"},
    {any, "select(x, y, true) -> !x || y"},
    // Choices in choices.
    {any, "select(x, select(x, y, z), w) -> select(x, y, w)"},
    {any, "select(x, y, select(x, z, w)) -> select(x, y, w)"},
    {any, "select(x, select(y, z, w), w) -> select(x && y, z, w)"},
    {any, "select(x, select(y, z, w), z) -> select(x && !y, w, z)"},
    {any, "select(x, y, select(z, y, w)) -> select(x || z, y, w)"},
    {any, "select(x, y, select(z, w, y)) -> select(x || !z, y, w)"},
    {any, "select(x, select(y, z, w), select(y, z, u)) -> select(y, z, select(x, w, u))"},
    {any, "select(x, select(y, z, w), select(y, u, w)) -> select(y, select(x, z, u), w)"},
    // Minima and maxima.
    {integer, "select(x < y, x, y) -> min(x, y)"},
    {integer, "select(x < y, y, x) -> max(x, y)"},
    {integer, "select(x < c0, x, c1) -> min(x, c1) if c0 == c1 + 1"},
    {integer, "select(c0 < x, x, c1) -> max(x, c1) if c1 == c0 + 1"},
    {integer, "select(x < c0, c1, x) -> max(x, c1) if c0 == c1 + 1"},
    {integer, "select(c0 < x, c1, x) -> min(x, c1) if c1 == c0 + 1"},
    {integer, "select(x == y, x, y) -> y"},
    // What both values have in common leaves.
    {integer, "select(x, y + z, y + w) -> select(x, z, w) + y"},
    {integer, "select(x, y + z, y) -> select(x, z, 0) + y"},
    {integer, "select(x, y, y + z) -> select(x, 0, z) + y"},
    {integer, "select(x, y - z, y - w) -> y - select(x, z, w)"},
    {integer, "select(x, y - z, w - z) -> select(x, y, w) - z"},
    {integer, "select(x, a * z, a * w) -> select(x, z, w) * a"},
    {any, "select(x, y / z, w / z) -> select(x, y, w) / z"},
    {integer, "select(x, y % z, w % z) -> select(x, y, w) % z"},
    {ordered, "select(x, min(y, z), min(y, w)) -> min(select(x, z, w), y)"},
    {ordered, "select(x, max(y, z), max(y, w)) -> max(select(x, z, w), y)"},
    {any, "select(x, y && z, y && w) -> select(x, z, w) && y"},
    {any, "select(x, y || z, y || w) -> select(x, z, w) || y"},
    {any, "select(x, likely(y), y) -> likely(y)"},
    {any, "select(x, y, likely(y)) -> likely(y)"},
    // Vectors.
    {any, "select(broadcast(x, l0), broadcast(y, l0), broadcast(z, l0)) -> broadcast(select(x, y, z), l0)"},
    {integer, "select(x, ramp(y, z, l0), ramp(w, z, l0)) -> ramp(select(x, y, w), z, l0)"},
};
// clang-format on

}  // namespace

const RuleFile select_rules{NodeKind::Select, "select", rules, std::size(rules)};

Expr Simplifier::select(const Expr &condition, const Expr &true_value, const Expr &false_value,
                        const ExprNode *original) {
    if (depth_ < max_depth) {
        depth_++;
        const Expr operands[3] = {condition, true_value, false_value};
        Expr better = rewrite(NodeKind::Select, true_value.type(), operands, 3);
        depth_--;
        if (better.defined()) {
            return better;
        }
    }
    const auto *old = static_cast<const Select *>(original);
    const bool same = old && old->condition.same_as(condition) &&
                      old->true_value.same_as(true_value) && old->false_value.same_as(false_value);
    return same ? Expr(original) : Select::make(condition, true_value, false_value);
}

Expr Simplifier::visit(const Select *op) {
    const Expr condition = mutate(op->condition);
    if (condition.type().is_scalar() || is_const(condition)) {
        if (is_const_one(condition)) {
            return mutate(op->true_value);
        }
        if (is_const_zero(condition)) {
            return mutate(op->false_value);
        }
    }
    return select(condition, mutate(op->true_value), mutate(op->false_value), op);
}

}  // namespace calotype::internal
