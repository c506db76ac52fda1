// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules of a / b.
#include <iterator>

#include "arith/simplify/rule.h"

namespace calotype::internal {

namespace {

// clang-format off
constexpr RuleText rules[] = {
    {any, "x / 1 -> x"},
    {ordered, "0 / x -> 0"},
    {integer, "x / 0 -> 0"},
    {signed_int, "x / -1 -> 0 - x"},
    {exact, "x / x -> 1 if lo(x) > 0"},
    {exact, "x / x -> 1 if hi(x) < 0"},
    // Quotients of quotients and products.
    {exact | wrapping, "(x / c0) / c1 -> x / fit(c0 * c1) if c0 > 0 && c1 > 0"},
    {exact, "(x / c0 + c1) / c2 -> (x + fold(c0 * c1)) / fold(c0 * c2) if c0 > 0 && c2 > 0"},
    {exact, "(x * c0) / c1 -> x * fold(c0 / c1) if c1 != 0 && c0 % c1 == 0"},
    {exact, "(x * c0) / c1 -> x / fold(c1 / c0) if c0 > 0 && c1 % c0 == 0"},
    {exact, "(a * y) / a -> y if lo(a) > 0"},
    {exact, "(a * y) / a -> y if hi(a) < 0"},
    // Multiples of the divisor leave the numerator.
    {exact, "(x * c0 + y) / c1 -> y / c1 + x * fold(c0 / c1) if c1 > 0 && c0 % c1 == 0"},
    {exact, "(y - x * c0) / c1 -> y / c1 - x * fold(c0 / c1) if c1 > 0 && c0 % c1 == 0"},
    {exact, "(x + c0) / c1 -> x / c1 + fold(c0 / c1) if c1 > 0 && c0 % c1 == 0"},
    {exact, "(x + c0) / c1 -> (x + fold(c0 % c1)) / c1 + fold(c0 / c1) if c1 > 0 && (c0 < 0 || c0 >= c1)"},
    {exact, "(c0 - x) / c1 -> (fold(c0 % c1) - x) / c1 + fold(c0 / c1) if c1 > 0 && (c0 < 0 || c0 >= c1)"},
    {exact, "(x + c0) / c1 -> x / c1 + fold((rem(x, c1) + c0) / c1) if c0 > 0 && c1 > 0 && rem(x, c1) >= 0"},
    {exact, "(x * c0 + c2) / c1 -> (x + fold(c2 / c0)) / fold(c1 / c0) if c0 > 0 && c1 > 0 && c1 % c0 == 0"},
    {exact, "(x * c0 + broadcast(y, l0)) / c1 -> (x + broadcast(y / c0, l0)) / fold(c1 / c0) if c0 > 0 && c1 > 0 && c1 % c0 == 0"},
    {exact | scalar, "(x * c0 + y) / c1 -> (x + y / c0) / fold(c1 / c0) if c0 > 0 && c1 > 0 && c1 % c0 == 0"},
    {exact, "(x % c0 + 1) / c0 -> x % c0 if c0 == 2"},
    {exact, "(a * y + z) / a -> y + z / a if lo(a) > 0"},
    {exact, "(a * y + z) / a -> y + z / a if hi(a) < 0"},
    {exact, "(a + y) / a -> y / a + 1 if lo(a) > 0"},
    {exact, "(a + y) / a -> y / a + 1 if hi(a) < 0"},
    {exact, "min(x * c0, y) / c1 -> min(x * fold(c0 / c1), y / c1) if c1 > 0 && c0 % c1 == 0"},
    {exact, "max(x * c0, y) / c1 -> max(x * fold(c0 / c1), y / c1) if c1 > 0 && c0 % c1 == 0"},
    {exact | unsigned_int, "select(x, c0, c1) / c2 -> select(x, fold(c0 / c2), fold(c1 / c2))"},
    // Vectors.
    {exact, "ramp(x, c0, l0) / c1 -> ramp(x / c1, fold(c0 / c1), l0) if c1 > 0 && c0 % c1 == 0"},
    {exact, "ramp(x, c0, l0) / c1 -> broadcast(x / c1, l0) if c1 > 0 && c0 >= 0 && rem(x, c1) + c0 * (l0 - 1) < c1"},
};
// clang-format on

}  // namespace

const RuleFile div_rules{NodeKind::Div, "div", rules, std::size(rules)};

}  // namespace calotype::internal
