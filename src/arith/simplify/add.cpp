// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules of a + b.
#include <iterator>

#include "arith/simplify/rule.h"

namespace calotype::internal {

namespace {

// clang-format off
constexpr RuleText rules[] = {
    {ordered, "x + 0 -> x"},
    // What all lanes share is added before it is broadcast.
    {integer, "(x + broadcast(a, l0)) + broadcast(b, l0) -> x + broadcast(a + b, l0)"},
    {integer, "(x - broadcast(a, l0)) + broadcast(b, l0) -> x + broadcast(b - a, l0)"},
    {integer, "(x + c0) + broadcast(a, l0) -> x + broadcast(a + fold(c0), l0)"},
    {integer, "(x + broadcast(a, l0)) + c0 -> x + broadcast(a + fold(c0), l0)"},
    {integer, "(x - broadcast(a, l0)) + c0 -> x + broadcast(fold(c0) - a, l0)"},
    // Constants fold and move outwards.
    {integer, "(x + c0) + c1 -> x + fold(c0 + c1)"},
    {integer, "(x - c0) + c1 -> x + fold(c1 - c0) if c1 >= c0"},
    {integer, "(x - c0) + c1 -> x - fold(c0 - c1) if c1 < c0"},
    {integer, "(c0 - x) + c1 -> fold(c0 + c1) - x"},
    {integer, "(x + c0) + a -> (x + a) + c0"},
    {unsigned_int, "(x - c0) + a -> (x + a) - c0"},
    {integer, "(c0 - x) + a -> (a - x) + c0"},
    {integer, "select(x, c0, c1) + c2 -> select(x, fold(c0 + c2), fold(c1 + c2))"},
    {integer, "select(x, y + c0, c1) + c2 -> select(x, y + fold(c0 + c2), fold(c1 + c2))"},
    {integer, "select(x, c0, y + c1) + c2 -> select(x, fold(c0 + c2), y + fold(c1 + c2))"},
    {exact, "min(x + c0, y) + c1 -> min(x, y + c1) if c0 + c1 == 0"},
    {exact, "max(x + c0, y) + c1 -> max(x, y + c1) if c0 + c1 == 0"},
    // Terms cancel.
    {integer, "(x - y) + y -> x"},
    {integer, "(x - y) + (y - z) -> x - z"},
    {integer, "(x + y) + (z - x) -> y + z"},
    {integer, "(x - (y + z)) + y -> x - z"},
    {exact, "min(x, y - z) + z -> min(x + z, y)"},
    {exact, "max(x, y - z) + z -> max(x + z, y)"},
    {integer, "min(x, y) + max(x, y) -> x + y"},
    // Terms merge.
    {integer, "x + x -> x * 2"},
    {integer, "x * c0 + x -> x * fold(c0 + 1)"},
    {integer, "x * c0 + x * c1 -> x * fold(c0 + c1)"},
    {integer, "a * y + a -> a * (y + 1)"},
    {integer, "a * y + a * z -> a * (y + z)"},
    {exact, "x + y * c0 -> x - y * fold(-c0) if c0 < 0"},
    {any, "select(x, y, z) + select(x, u, v) -> select(x, y + u, z + v)"},
    {integer, "select(x, y - z, w) + z -> select(x, y, w + z)"},
    {integer, "select(x, w, y - z) + z -> select(x, w + z, y)"},
    // Quotient and remainder.
    {integer, "x % c0 + (x / c0) * c0 -> x if c0 != 0"},
    {exact, "x % c0 + (x / c0 + y) * c0 -> x + y * c0 if c0 != 0"},
    {exact, "x + ((c0 - x) / c1) * c1 -> c0 - (c0 - x) % c1 if c1 > 0"},
    // Vectors.
    {integer, "ramp(x, y, l0) + ramp(z, w, l0) -> ramp(x + z, y + w, l0)"},
    {integer, "ramp(x, y, l0) + broadcast(z, l0) -> ramp(x + z, y, l0)"},
};
// clang-format on

}  // namespace

const RuleFile add_rules{NodeKind::Add, "add", rules, std::size(rules)};

}  // namespace calotype::internal
