// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules of a < b. a > b is b < a; a <= b is !(b < a), and so has no rules of its own.
#include <iterator>

#include "arith/simplify/rule.h"

namespace calotype::internal {

namespace {

// clang-format off
constexpr RuleText rules[] = {
    {any, "x < x -> false"},
    {exact, "x < y + 1 -> x <= y"},
    // Constants go to the right, differences become sums.
    {exact, "x + c0 < c1 -> x < fold(c1 - c0)"},
    {exact, "c0 < x + c1 -> fold(c0 - c1) < x"},
    {exact, "x + c0 < y + c1 -> x < y + fold(c1 - c0)"},
    {exact, "c0 - x < c1 -> fold(c0 - c1) < x"},
    {exact, "c0 < c1 - x -> x < fold(c1 - c0)"},
    {exact, "x + c0 < c1 - y -> x + y < fold(c1 - c0)"},
    {exact, "c0 - x < y + c1 -> fold(c0 - c1) < x + y"},
    {exact, "c0 - x < y -> c0 < x + y"},
    {exact, "x < c0 - y -> x + y < c0"},
    {exact, "x + c0 < y -> x < y + fold(-c0)"},
    {exact, "x - y < z -> x < y + z"},
    {exact, "x < y - z -> x + z < y"},
    {exact, "(x - y) + z < w -> x + z < y + w"},
    {exact, "x < (y - z) + w -> x + z < y + w"},
    // A common term cancels.
    {exact, "x + y < x -> y < 0"},
    {exact, "x < x + y -> 0 < y"},
    {exact, "x + y < x + z -> y < z"},
    // Factors.
    {exact, "x * c0 < y * c0 -> x < y if c0 > 0"},
    {exact, "x * c0 < y * c0 -> y < x if c0 < 0"},
    {exact, "x * c0 < c1 -> x < fold((c1 + c0 - 1) / c0) if c0 > 0"},
    {exact, "c0 < x * c1 -> fold(c0 / c1) < x if c1 > 0"},
    {exact, "x * c0 < c1 -> fold(-((c1 - c0 - 1) / -c0)) < x if c0 < 0"},
    {exact, "c0 < x * c1 -> x < fold(-(c0 / -c1)) if c1 < 0"},
    {exact, "x * c0 < y * c1 -> x < y * fold(c1 / c0) if c0 > 0 && c1 % c0 == 0"},
    {exact, "x * c0 < y * c1 -> x * fold(c0 / c1) < y if c1 > 0 && c0 % c1 == 0"},
    {exact, "x * c0 < y * c0 + c1 -> x < y + fold((c1 + c0 - 1) / c0) if c0 > 0"},
    {exact, "x * c0 < y * c1 + c2 -> x < y * fold(c1 / c0) + fold((c2 + c0 - 1) / c0) if c0 > 0 && c1 % c0 == 0"},
    {exact, "x * c0 < y * c1 + c2 -> x * fold(c0 / c1) < y + fold((c2 + c1 - 1) / c1) if c1 > 0 && c0 % c1 == 0"},
    // Quotients.
    {exact, "x / c0 < c1 -> x < fold(c1 * c0) if c0 > 0"},
    {exact, "c0 < x / c1 -> fold((c0 + 1) * c1 - 1) < x if c1 > 0"},
    {exact, "x < (x / c0) * c0 -> false if c0 > 0"},
    {exact, "(x / c0) * c0 < x -> 0 < x % c0 if c0 > 0"},
    {exact, "x < (x / c0) * c0 + c1 -> x % c0 < c1 if c0 > 0"},
    {exact, "(x / c0) * c0 < x + c1 -> fold(-c1) < x % c0 if c0 > 0"},
    {exact, "x < ((x + c0) / c1) * c1 -> (x + c0) % c1 < c0 if c1 > 0"},
    {exact, "((x + c0) / c1) * c1 < x -> c0 < (x + c0) % c1 if c1 > 0"},
    {exact, "x < ((x + c0) / c1) * c1 + c2 -> (x + c0) % c1 < fold(c0 + c2) if c1 > 0"},
    {exact, "((x + c0) / c1) * c1 < x + c2 -> fold(c0 - c2) < (x + c0) % c1 if c1 > 0"},
    {exact, "(x + c0) / c1 < x / c1 -> false if c1 > 0 && c0 >= 0"},
    {exact, "(x + c0) / c1 < x / c1 -> true if c1 > 0 && c0 + c1 <= 0"},
    {exact, "x / c1 < (x + c0) / c1 -> false if c1 > 0 && c0 <= 0"},
    {exact, "x / c1 < (x + c0) / c1 -> true if c1 > 0 && c0 >= c1"},
    {exact, "(x + c0) / c1 < x / c1 + c2 -> false if c1 > 0 && c0 - c1 * c2 >= 0"},
    {exact, "(x + c0) / c1 < x / c1 + c2 -> true if c1 > 0 && c0 - c1 * c2 + c1 <= 0"},
    {exact, "x / c1 < (x + c0) / c1 + c2 -> false if c1 > 0 && c0 + c1 * c2 <= 0"},
    {exact, "x / c1 < (x + c0) / c1 + c2 -> true if c1 > 0 && c0 + c1 * c2 >= c1"},
    // Minima and maxima.
    {any, "x < min(x, y) -> false"},
    {any, "max(x, y) < x -> false"},
    {any, "min(x, y) < x -> y < x"},
    {any, "x < max(x, y) -> x < y"},
    {any, "max(x, y) < min(x, y) -> false"},
    {ordered, "min(x, y) < max(x, y) -> x != y"},
    {ordered, "min(x, y) < min(x, z) -> y < min(x, z)"},
    {ordered, "max(x, y) < max(x, z) -> max(x, y) < z"},
    {ordered, "max(x, y) < min(x, z) -> false"},
    {any, "min(x, c0) < c1 -> true if c0 < c1"},
    {any, "min(x, c0) < c1 -> x < c1 if c1 <= c0"},
    {any, "max(x, c0) < c1 -> false if c1 <= c0"},
    {ordered, "max(x, c0) < c1 -> x < c1 if c0 < c1"},
    {any, "c0 < min(x, c1) -> false if c1 <= c0"},
    {ordered, "c0 < min(x, c1) -> c0 < x if c0 < c1"},
    {any, "c0 < max(x, c1) -> true if c0 < c1"},
    {any, "c0 < max(x, c1) -> c0 < x if c1 <= c0"},
    {exact, "min(x, y) < x + c0 -> true if c0 > 0"},
    {exact, "min(x, y) < x + c0 -> y < x + c0 if c0 <= 0"},
    {exact, "max(x, y) < x + c0 -> false if c0 <= 0"},
    {exact, "max(x, y) < x + c0 -> y < x + c0 if c0 > 0"},
    {exact, "x < min(x, y) + c0 -> false if c0 <= 0"},
    {exact, "x < min(x, y) + c0 -> x < y + c0 if c0 > 0"},
    {exact, "x < max(x, y) + c0 -> true if c0 > 0"},
    {exact, "x < max(x, y) + c0 -> x < y + c0 if c0 <= 0"},
    {exact, "min(x + c0, y) < x -> true if c0 < 0"},
    {exact, "min(x + c0, y) < x -> y < x if c0 >= 0"},
    {exact, "max(x + c0, y) < x -> false if c0 >= 0"},
    {exact, "max(x + c0, y) < x -> y < x if c0 < 0"},
    {exact, "x < min(x + c0, y) -> false if c0 <= 0"},
    {exact, "x < min(x + c0, y) -> x < y if c0 > 0"},
    {exact, "x < max(x + c0, y) -> true if c0 > 0"},
    {exact, "x < max(x + c0, y) -> x < y if c0 <= 0"},
    {exact, "min(x + c0, y) < x + c1 -> true if c0 < c1"},
    {exact, "min(x + c0, y) < x + c1 -> y < x + c1 if c0 >= c1"},
    {exact, "max(x + c0, y) < x + c1 -> false if c0 >= c1"},
    {exact, "max(x + c0, y) < x + c1 -> y < x + c1 if c0 < c1"},
    {exact, "x < min(x + c0, y) + c1 -> false if c0 + c1 <= 0"},
    {exact, "x < min(x + c0, y) + c1 -> x < y + c1 if c0 + c1 > 0"},
    {exact, "x < max(x + c0, y) + c1 -> true if c0 + c1 > 0"},
    {exact, "x < max(x + c0, y) + c1 -> x < y + c1 if c0 + c1 <= 0"},
    // Choices.
    {integer, "select(x, c0, c1) < c2 -> x if c0 < c2 && c1 >= c2"},
    {integer, "select(x, c0, c1) < c2 -> !x if c0 >= c2 && c1 < c2"},
    {integer, "c0 < select(x, c1, c2) -> x if c0 < c1 && c0 >= c2"},
    {integer, "c0 < select(x, c1, c2) -> !x if c0 >= c1 && c0 < c2"},
    {any, "select(x, a, y) < a -> !x && y < a"},
    {any, "select(x, y, a) < a -> x && y < a"},
    {any, "a < select(x, a, y) -> !x && a < y"},
    {any, "a < select(x, y, a) -> x && a < y"},
    {any, "select(x, y, z) < select(x, u, v) -> select(x, y < u, z < v)"},
    // Conditions as numbers.
    {boolean, "x < y -> !x && y"},
    // Vectors.
    {exact, "ramp(x, y, l0) < ramp(z, y, l0) -> broadcast(x < z, l0)"},
};
// clang-format on

}  // namespace

const RuleFile lt_rules{NodeKind::LT, "lt", rules, std::size(rules)};

}  // namespace calotype::internal
