// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules of max(a, b). Each has its mirror image in min.cpp.
#include <iterator>

#include "arith/simplify/rule.h"

namespace calotype::internal {

namespace {

// clang-format off
constexpr RuleText rules[] = {
    {any, "max(x, x) -> x"},
    {any, "max(x, likely(x)) -> likely(x)"},
    {ordered, "max(max(x, y), x) -> max(x, y)"},
    {ordered, "max(max(max(x, y), z), x) -> max(max(x, y), z)"},
    {ordered, "max(max(max(max(x, y), z), u), x) -> max(max(max(x, y), z), u)"},
    {ordered, "max(min(x, y), x) -> x"},
    {ordered, "max(min(min(x, y), z), x) -> x"},
    {ordered, "max(min(min(min(x, y), z), u), x) -> x"},
    {ordered, "max(min(min(x, y), z), max(x, u)) -> max(x, u)"},
    {ordered, "max(min(x, y), max(x, z)) -> max(x, z)"},
    {ordered, "max(max(x, y), max(x, z)) -> max(max(x, y), z)"},
    {ordered, "max(min(x, y), min(x, z)) -> min(max(y, z), x)"},
    // Constants fold and move outwards; a clamp is max(min(x, high), low).
    {ordered, "max(max(x, c0), c1) -> max(x, fold(max(c0, c1)))"},
    {any, "max(min(x, c0), c1) -> c1 if c1 >= c0"},
    {ordered, "max(max(max(x, c0), y), c1) -> max(max(x, c0), y) if c0 >= c1"},
    {ordered, "max(max(max(x, c0), y), c1) -> max(max(x, y), c1) if c0 < c1"},
    // Only of indices: of data, each of a running extreme's values begins with the one before.
    {exact, "max(max(x, c0), a) -> max(max(x, a), c0)"},
    {exact, "max(x + c0, c1) -> max(x, fold(c1 - c0)) + c0"},
    {exact, "max(c0 - x, c1) -> c0 - min(x, fold(c0 - c1))"},
    {exact, "max(x + c0, x) -> x + fold(max(c0, 0))"},
    {exact, "max(x + c0, x + c1) -> x + fold(max(c0, c1))"},
    {exact, "max(x + c0, y + c1) -> max(x, y + fold(c1 - c0)) + c0 if c1 >= c0"},
    {exact, "max(x + c0, max(x, y)) -> max(x, y) if c0 <= 0"},
    {exact, "max(x + c0, max(x, y)) -> max(x + c0, y) if c0 > 0"},
    {exact, "max(x + c0, min(x, y)) -> x + c0 if c0 >= 0"},
    {exact, "max(min(x + c0, y), x) -> x if c0 <= 0"},
    // A common term leaves.
    {exact, "max(x + y, x + z) -> max(y, z) + x"},
    {exact, "max(x + y, x) -> max(y, 0) + x"},
    {exact, "max(x - y, x - z) -> x - min(y, z)"},
    {exact, "max(x - y, z - y) -> max(x, z) - y"},
    {exact, "max(x - y, x) -> x - min(y, 0)"},
    {exact, "max((x + y) + z, x) -> max(y + z, 0) + x"},
    {exact, "max(x * c0, y * c0) -> max(x, y) * c0 if c0 > 0"},
    {exact, "max(x * c0, y * c0) -> min(x, y) * c0 if c0 < 0"},
    {exact, "max(x * c0, c1) -> max(x, fold(c1 / c0)) * c0 if c0 > 0 && c1 % c0 == 0"},
    {exact, "max(x * c0, c1) -> min(x, fold(c1 / c0)) * c0 if c0 < 0 && c1 % c0 == 0"},
    {exact, "max(x * c0, y * c0 + c1) -> max(x, y + fold(c1 / c0)) * c0 if c0 > 0 && c1 % c0 == 0"},
    {exact, "max(x / c0, y / c0) -> max(x, y) / c0 if c0 > 0"},
    {exact, "max(x / c0, y / c0) -> min(x, y) / c0 if c0 < 0"},
    // Quotients of what is a constant apart.
    {exact, "max((x + c0) / c1 + c2, x / c1) -> (x + c0) / c1 + c2 if c1 > 0 && c0 + c2 * c1 >= 0"},
    {exact, "max((x + c0) / c1 + c2, x / c1) -> x / c1 if c1 > 0 && c0 + c2 * c1 <= 0"},
    {exact, "max(x / c1 + c2, (x + c0) / c1) -> x / c1 + c2 if c1 > 0 && c2 * c1 - c0 >= 0"},
    {exact, "max(x / c1 + c2, (x + c0) / c1) -> (x + c0) / c1 if c1 > 0 && c2 * c1 - c0 <= 0"},
    {exact, "max((x + c0) / c1 + c2, (x + c3) / c1) -> (x + c0) / c1 + c2 if c1 > 0 && c0 + c2 * c1 >= c3"},
    {exact, "max((x + c0) / c1 + c2, (x + c3) / c1) -> (x + c3) / c1 if c1 > 0 && c0 + c2 * c1 <= c3"},
    // Rounding to a multiple.
    {exact, "max((x / c0) * c0, x) -> x if c0 > 0"},
    {exact, "max((x / c0) * c0 + c1, x) -> (x / c0) * c0 + c1 if c0 > 0 && c1 >= c0 - 1"},
    {exact, "max(((x + c0) / c1) * c1, x) -> ((x + c0) / c1) * c1 if c1 > 0 && c0 >= c1 - 1"},
    {exact, "max(((x + c0) / c1) * c1, x) -> x if c1 > 0 && c0 <= 0"},
    {exact, "max(((x + c0) / c1) * c1 + c2, x) -> ((x + c0) / c1) * c1 + c2 if c1 > 0 && c0 + c2 >= c1 - 1"},
    {exact, "max(((x + c0) / c1) * c1 + c2, x) -> x if c1 > 0 && c0 + c2 <= 0"},
    {any, "max(select(x, y, z), select(x, u, v)) -> select(x, max(y, u), max(z, v))"},
    {any, "max(select(x, c0, c1), c2) -> select(x, fold(max(c0, c2)), fold(max(c1, c2)))"},
    {ordered, "max(select(x, a, z), a) -> select(x, a, max(z, a))"},
    {ordered, "max(select(x, y, a), a) -> select(x, max(y, a), a)"},
    // Vectors.
    {exact, "max(ramp(x, y, l0), ramp(z, y, l0)) -> ramp(max(x, z), y, l0)"},
};
// clang-format on

}  // namespace

const RuleFile max_rules{NodeKind::Max, "max", rules, std::size(rules)};

}  // namespace calotype::internal
