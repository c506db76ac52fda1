// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules of min(a, b). Each has its mirror image in max.cpp.
#include <iterator>

#include "arith/simplify/rule.h"

namespace calotype::internal {

namespace {

// clang-format off
constexpr RuleText rules[] = {
    {any, "min(x, x) -> x"},
    {any, "min(x, likely(x)) -> likely(x)"},
    {ordered, "min(min(x, y), x) -> min(x, y)"},
    {ordered, "min(min(min(x, y), z), x) -> min(min(x, y), z)"},
    {ordered, "min(min(min(min(x, y), z), u), x) -> min(min(min(x, y), z), u)"},
    {ordered, "min(max(x, y), x) -> x"},
    {ordered, "min(max(max(x, y), z), x) -> x"},
    {ordered, "min(max(max(max(x, y), z), u), x) -> x"},
    {ordered, "min(max(max(x, y), z), min(x, u)) -> min(x, u)"},
    {ordered, "min(max(x, y), min(x, z)) -> min(x, z)"},
    {ordered, "min(min(x, y), min(x, z)) -> min(min(x, y), z)"},
    {ordered, "min(max(x, y), max(x, z)) -> max(min(y, z), x)"},
    // Constants fold and move outwards; a clamp is max(min(x, high), low).
    {ordered, "min(min(x, c0), c1) -> min(x, fold(min(c0, c1)))"},
    {any, "min(max(x, c0), c1) -> c1 if c1 <= c0"},
    {ordered, "min(min(min(x, c0), y), c1) -> min(min(x, c0), y) if c0 <= c1"},
    {ordered, "min(min(min(x, c0), y), c1) -> min(min(x, y), c1) if c0 > c1"},
    // Only of indices: of data, each of a running extreme's values begins with the one before.
    {exact, "min(min(x, c0), a) -> min(min(x, a), c0)"},
    {ordered, "min(max(x, c0), c1) -> max(min(x, c1), c0) if c0 < c1"},
    {exact, "min(x + c0, c1) -> min(x, fold(c1 - c0)) + c0"},
    {exact, "min(c0 - x, c1) -> c0 - max(x, fold(c0 - c1))"},
    {exact, "min(x + c0, x) -> x + fold(min(c0, 0))"},
    {exact, "min(x + c0, x + c1) -> x + fold(min(c0, c1))"},
    {exact, "min(x + c0, y + c1) -> min(x, y + fold(c1 - c0)) + c0 if c1 >= c0"},
    {exact, "min(x + c0, min(x, y)) -> min(x, y) if c0 >= 0"},
    {exact, "min(x + c0, min(x, y)) -> min(x + c0, y) if c0 < 0"},
    {exact, "min(x + c0, max(x, y)) -> x + c0 if c0 <= 0"},
    {exact, "min(max(x + c0, y), x) -> x if c0 >= 0"},
    // A common term leaves.
    {exact, "min(x + y, x + z) -> min(y, z) + x"},
    {exact, "min(x + y, x) -> min(y, 0) + x"},
    {exact, "min(x - y, x - z) -> x - max(y, z)"},
    {exact, "min(x - y, z - y) -> min(x, z) - y"},
    {exact, "min(x - y, x) -> x - max(y, 0)"},
    {exact, "min((x + y) + z, x) -> min(y + z, 0) + x"},
    {exact, "min(x * c0, y * c0) -> min(x, y) * c0 if c0 > 0"},
    {exact, "min(x * c0, y * c0) -> max(x, y) * c0 if c0 < 0"},
    {exact, "min(x * c0, c1) -> min(x, fold(c1 / c0)) * c0 if c0 > 0 && c1 % c0 == 0"},
    {exact, "min(x * c0, c1) -> max(x, fold(c1 / c0)) * c0 if c0 < 0 && c1 % c0 == 0"},
    {exact, "min(x * c0, y * c0 + c1) -> min(x, y + fold(c1 / c0)) * c0 if c0 > 0 && c1 % c0 == 0"},
    {exact, "min(x / c0, y / c0) -> min(x, y) / c0 if c0 > 0"},
    {exact, "min(x / c0, y / c0) -> max(x, y) / c0 if c0 < 0"},
    // Quotients of what is a constant apart.
    {exact, "min((x + c0) / c1 + c2, x / c1) -> (x + c0) / c1 + c2 if c1 > 0 && c0 + c2 * c1 <= 0"},
    {exact, "min((x + c0) / c1 + c2, x / c1) -> x / c1 if c1 > 0 && c0 + c2 * c1 >= 0"},
    {exact, "min(x / c1 + c2, (x + c0) / c1) -> x / c1 + c2 if c1 > 0 && c2 * c1 - c0 <= 0"},
    {exact, "min(x / c1 + c2, (x + c0) / c1) -> (x + c0) / c1 if c1 > 0 && c2 * c1 - c0 >= 0"},
    {exact, "min((x + c0) / c1 + c2, (x + c3) / c1) -> (x + c0) / c1 + c2 if c1 > 0 && c0 + c2 * c1 <= c3"},
    {exact, "min((x + c0) / c1 + c2, (x + c3) / c1) -> (x + c3) / c1 if c1 > 0 && c0 + c2 * c1 >= c3"},
    // Rounding to a multiple.
    {exact, "min((x / c0) * c0, x) -> (x / c0) * c0 if c0 > 0"},
    {exact, "min((x / c0) * c0 + c1, x) -> x if c0 > 0 && c1 >= c0 - 1"},
    {exact, "min(((x + c0) / c1) * c1, x) -> x if c1 > 0 && c0 >= c1 - 1"},
    {exact, "min(((x + c0) / c1) * c1, x) -> ((x + c0) / c1) * c1 if c1 > 0 && c0 <= 0"},
    {exact, "min(((x + c0) / c1) * c1 + c2, x) -> x if c1 > 0 && c0 + c2 >= c1 - 1"},
    {exact, "min(((x + c0) / c1) * c1 + c2, x) -> ((x + c0) / c1) * c1 + c2 if c1 > 0 && c0 + c2 <= 0"},
    {any, "min(select(x, y, z), select(x, u, v)) -> select(x, min(y, u), min(z, v))"},
    {any, "min(select(x, c0, c1), c2) -> select(x, fold(min(c0, c2)), fold(min(c1, c2)))"},
    {ordered, "min(select(x, a, z), a) -> select(x, a, min(z, a))"},
    {ordered, "min(select(x, y, a), a) -> select(x, min(y, a), a)"},
    // Vectors.
    {exact, "min(ramp(x, y, l0), ramp(z, y, l0)) -> ramp(min(x, z), y, l0)"},
};
// clang-format on

}  // namespace

const RuleFile min_rules{NodeKind::Min, "min", rules, std::size(rules)};

}  // namespace calotype::internal
