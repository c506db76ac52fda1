// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules of a % b.
#include <iterator>

#include "arith/simplify/rule.h"

namespace calotype::internal {

namespace {

// clang-format off
constexpr RuleText rules[] = {
    {integer, "x % 1 -> 0"},
    {integer, "x % 0 -> 0"},
    {integer, "0 % x -> 0"},
    {integer, "x % x -> 0"},
    {integer, "(x % c0) % c1 -> x % c1 if c0 != 0 && c0 % c1 == 0"},
    {exact, "(x * c0) % c1 -> 0 if c0 % c1 == 0"},
    {exact, "(x * c0) % c1 -> (x % fold(c1 / c0)) * c0 if c0 > 0 && c1 > 0 && c1 % c0 == 0"},
    {exact, "(a * y) % a -> 0"},
    // Multiples of the modulus go, constants are reduced.
    {exact, "(x + c0) % c1 -> x % c1 if c0 % c1 == 0"},
    {exact, "(x + c0) % c1 -> (x + fold(c0 % c1)) % c1 if c1 > 0 && (c0 < 0 || c0 >= c1)"},
    {exact, "(c0 - x) % c1 -> (fold(c0 % c1) - x) % c1 if c1 > 0 && (c0 < 0 || c0 >= c1)"},
    {exact, "(x + y * c0) % c1 -> x % c1 if c0 % c1 == 0"},
    {exact, "(x - y * c0) % c1 -> x % c1 if c0 % c1 == 0"},
    {exact, "(x * c0 - y) % c1 -> (0 - y) % c1 if c0 % c1 == 0"},
    {exact, "(x * c0 + y) % c1 -> (x % fold(c1 / c0)) * c0 + y if c0 > 0 && c1 > 0 && c1 % c0 == 0 && lo(y) >= 0 && hi(y) < c0"},
    {exact, "(x * c0) % c1 -> (x * fold(c0 % c1)) % c1 if c1 > 0 && (c0 < 0 || c0 >= c1)"},
    {exact, "(x * c0 + y) % c1 -> (x * fold(c0 % c1) + y) % c1 if c1 > 0 && (c0 < 0 || c0 >= c1)"},
    {exact, "(x % c0 + y) % c0 -> (x + y) % c0"},
    {exact, "(y - x % c0) % c0 -> (y - x) % c0"},
    {exact, "(x % c0 - y) % c0 -> (x - y) % c0"},
    {exact, "(a + y) % a -> y % a"},
    {exact, "(x + a * z) % a -> x % a"},
    {exact, "(x + a) % c0 -> (x + fold(rem(a, c0))) % c0 if c0 > 0 && rem(a, c0) >= 0"},
    {exact, "(x - a) % c0 -> (x - fold(rem(a, c0))) % c0 if c0 > 0 && rem(a, c0) >= 0"},
    {integer, "select(x, c0, c1) % c2 -> select(x, fold(c0 % c2), fold(c1 % c2))"},
    // Vectors.
    {exact, "ramp(x, c0, l0) % c1 -> broadcast(x % c1, l0) if c0 % c1 == 0"},
    {exact, "ramp(x, c0, l0) % c1 -> ramp(x % c1, c0, l0) if c1 > 0 && c0 >= 0 && rem(x, c1) + c0 * (l0 - 1) < c1"},
    {exact, "ramp(x, c0, l0) % c1 -> ramp(x, fold(c0 % c1), l0) % c1 if c1 > 0 && (c0 < 0 || c0 >= c1)"},
};
// clang-format on

}  // namespace

const RuleFile mod_rules{NodeKind::Mod, "mod", rules, std::size(rules)};

}  // namespace calotype::internal
