// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules of a * b.
#include <iterator>

#include "arith/simplify/rule.h"

namespace calotype::internal {

namespace {

// clang-format off
constexpr RuleText rules[] = {
    {ordered, "x * 0 -> 0"},
    {any, "x * 1 -> x"},
    {integer, "(x * c0) * c1 -> x * fold(c0 * c1)"},
    {integer, "(x + c0) * c1 -> x * c1 + fold(c0 * c1)"},
    {signed_int, "(c0 - x) * c1 -> x * fold(-c1) + fold(c0 * c1)"},
    {exact, "(x - y) * c0 -> (y - x) * fold(-c0) if c0 < 0"},
    {integer, "(x * c0) * a -> (x * a) * c0"},
    {exact, "(x / c0) * c1 -> x * fold(c1 / c0) if c0 > 0 && c1 % c0 == 0 && rem(x, c0) == 0"},
    {integer, "select(x, c0, c1) * c2 -> select(x, fold(c0 * c2), fold(c1 * c2))"},
    {integer, "min(x, y) * max(x, y) -> x * y"},
    {integer, "ramp(x, y, l0) * c0 -> ramp(x * c0, y * c0, l0)"},
};
// clang-format on

}  // namespace

const RuleFile mul_rules{NodeKind::Mul, "mul", rules, std::size(rules)};

}  // namespace calotype::internal
