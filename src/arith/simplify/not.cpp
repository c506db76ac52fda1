// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules of !a.
#include <iterator>

#include "arith/simplify/simplifier.h"
#include "ir/constants.h"

namespace calotype::internal {

namespace {

// clang-format off
constexpr RuleText rules[] = {
    {any, "!(!x) -> x"},
    {integer, "!(x < y) -> y <= x"},
    {integer, "!(x <= y) -> y < x"},
    {any, "!(x == y) -> x != y"},
    {any, "!(x != y) -> x == y"},
    {any, "!likely(x) -> likely(!x)"},
    {any, "!broadcast(x, l0) -> broadcast(!x, l0)"},
};
// clang-format on

}  // namespace

const RuleFile not_rules{NodeKind::Not, "not", rules, std::size(rules)};

Expr Simplifier::logical_not(const Expr &a, const ExprNode *original) {
    if (is_const(a)) {
        return make_const(a.type(), is_const_zero(a) ? 1 : 0);
    }
    if (Expr better = rewrite(NodeKind::Not, a.type(), &a, 1); better.defined()) {
        return better;
    }
    const auto *old = original ? static_cast<const Not *>(original) : nullptr;
    return old && old->a.same_as(a) ? Expr(original) : Not::make(a);
}

Expr Simplifier::visit(const Not *op) {
    return logical_not(mutate(op->a), op);
}

}  // namespace calotype::internal
