// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules of a == b. a != b is !(a == b), and so has no rules of its own.
#include <iterator>

#include "arith/simplify/rule.h"

namespace calotype::internal {

namespace {

// clang-format off
constexpr RuleText rules[] = {
    {ordered, "x == x -> true"},
    {boolean, "x == true -> x"},
    {boolean, "x == false -> !x"},
    {boolean, "x == !x -> false"},
    {boolean, "!x == !y -> x == y"},
    // Constants go to the right.
    {integer, "x + c0 == c1 -> x == fold(c1 - c0)"},
    {integer, "x - c0 == c1 -> x == fold(c1 + c0)"},
    {integer, "c0 - x == c1 -> x == fold(c0 - c1)"},
    {integer, "x + c0 == y + c1 -> x == y + fold(c1 - c0)"},
    {integer, "c0 - x == y + c1 -> x + y == fold(c0 - c1)"},
    {integer, "c0 - x == c1 - y -> y == x + fold(c1 - c0)"},
    {integer, "c0 - x == y -> x + y == c0"},
    {integer, "x - y == 0 -> x == y"},
    {exact, "x - y == c0 -> x == y + c0"},
    {integer, "x - y == x -> y == 0"},
    {integer, "x - y == x - z -> y == z"},
    {integer, "x - y == z - y -> x == z"},
    {exact, "x - y == z -> x == y + z"},
    // A common term cancels.
    {integer, "x + y == x -> y == 0"},
    {integer, "x + y == x + z -> y == z"},
    // Factors.
    {exact, "x * c0 == c1 -> x == fold(c1 / c0) if c0 != 0 && c1 % c0 == 0"},
    {exact, "x * c0 == c1 -> false if c0 != 0 && c1 % c0 != 0"},
    {exact, "x * c0 == y * c0 -> x == y if c0 != 0"},
    {exact, "x * c0 == y * c1 -> x == y * fold(c1 / c0) if c0 != 0 && c1 % c0 == 0"},
    // Minima and maxima.
    {ordered, "min(x, y) == x -> x <= y"},
    {ordered, "max(x, y) == x -> y <= x"},
    {ordered, "min(x, y) == max(x, y) -> x == y"},
    {integer, "min(x, c0) == c1 -> x == c1 if c1 < c0"},
    {integer, "max(x, c0) == c1 -> x == c1 if c0 < c1"},
    {exact, "min(x, y) == x + c0 -> y == x + c0 if c0 < 0"},
    {exact, "min(x, y) == x + c0 -> false if c0 > 0"},
    {exact, "max(x, y) == x + c0 -> y == x + c0 if c0 > 0"},
    {exact, "max(x, y) == x + c0 -> false if c0 < 0"},
    {exact, "(x / c0) * c0 == x -> x % c0 == 0 if c0 != 0"},
    // Choices.
    {integer, "select(x, c0, c1) == c2 -> x if c0 == c2 && c1 != c2"},
    {integer, "select(x, c0, c1) == c2 -> !x if c0 != c2 && c1 == c2"},
    {integer, "select(x, c0, c1) == c2 -> false if c0 != c2 && c1 != c2"},
    {integer, "select(x, y, c0) == c1 -> x && y == c1 if c0 != c1"},
    {integer, "select(x, y, c0) == c1 -> !x || y == c1 if c0 == c1"},
    {integer, "select(x, c0, y) == c1 -> !x && y == c1 if c0 != c1"},
    {integer, "select(x, c0, y) == c1 -> x || y == c1 if c0 == c1"},
    {integer, "select(x, y, z) == y -> x || y == z"},
    {integer, "select(x, y, z) == z -> !x || y == z"},
    // Vectors.
    {integer, "ramp(x, y, l0) == ramp(z, y, l0) -> broadcast(x == z, l0)"},
};
// clang-format on

}  // namespace

const RuleFile eq_rules{NodeKind::EQ, "eq", rules, std::size(rules)};

}  // namespace calotype::internal
