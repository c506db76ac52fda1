// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules of a - b.
#include <iterator>

#include "arith/simplify/rule.h"

namespace calotype::internal {

namespace {

// clang-format off
constexpr RuleText rules[] = {
    {any, "x - 0 -> x"},
    {ordered, "x - x -> 0"},
    // What all lanes share is added before it is broadcast.
    {integer, "(x + broadcast(a, l0)) - broadcast(b, l0) -> x + broadcast(a - b, l0)"},
    {integer, "(x - broadcast(a, l0)) - broadcast(b, l0) -> x - broadcast(a + b, l0)"},
    // Constants fold and move outwards; a signed difference with a constant is a sum.
    {signed_int, "x - c0 -> x + fold(-c0)"},
    {unsigned_int, "(x - c0) - c1 -> x - fold(c0 + c1)"},
    {unsigned_int, "(x + c0) - c1 -> x + fold(c0 - c1) if c0 >= c1"},
    {unsigned_int, "(x + c0) - c1 -> x - fold(c1 - c0) if c0 < c1"},
    {unsigned_int, "(c0 - x) - c1 -> fold(c0 - c1) - x"},
    {integer, "c0 - (x + c1) -> fold(c0 - c1) - x"},
    {integer, "c0 - (c1 - x) -> x + fold(c0 - c1)"},
    {wrapping, "c0 - (x - c1) -> fold(c0 + c1) - x"},
    {integer, "(c0 - x) - (c1 - y) -> (y - x) + fold(c0 - c1)"},
    {integer, "(x + c0) - (y + c1) -> (x - y) + fold(c0 - c1)"},
    {integer, "(x + c0) - (c1 - y) -> (x + y) + fold(c0 - c1)"},
    {integer, "(c0 - x) - y -> c0 - (x + y)"},
    {integer, "(x + c0) - y -> (x - y) + c0"},
    {wrapping, "(x - c0) - a -> (x - a) - c0"},
    {signed_int, "x - (y + c0) -> (x - y) + fold(-c0)"},
    {unsigned_int, "x - (y + c0) -> (x - y) - c0"},
    {integer, "x - (c0 - y) -> (x + y) - c0"},
    {wrapping, "x - (y - c0) -> (x - y) + c0"},
    {integer, "x - (y - z) -> x + (z - y)"},
    {exact, "x - y * c0 -> x + y * fold(-c0) if c0 < 0"},
    {integer, "c0 - select(x, c1, c2) -> select(x, fold(c0 - c1), fold(c0 - c2))"},
    {unsigned_int, "select(x, c0, c1) - c2 -> select(x, fold(c0 - c2), fold(c1 - c2))"},
    // Terms cancel.
    {integer, "(x + y) - x -> y"},
    {integer, "x - (x + y) -> 0 - y"},
    {integer, "(x - y) - x -> 0 - y"},
    {integer, "(x + y) - (x + z) -> y - z"},
    {integer, "x * c0 - x -> x * fold(c0 - 1)"},
    {integer, "x - x * c0 -> x * fold(1 - c0)"},
    {integer, "x * c0 - x * c1 -> x * fold(c0 - c1)"},
    {integer, "a * y - a * z -> a * (y - z)"},
    {integer, "a * y - a -> a * (y - 1)"},
    {integer, "a - a * y -> a * (1 - y)"},
    // Minima and maxima with a common term.
    {exact, "a - min(a, y) -> max(a - y, 0)"},
    {exact, "a - max(a, y) -> min(a - y, 0)"},
    {exact, "min(a, y) - a -> min(y - a, 0)"},
    {exact, "max(a, y) - a -> max(y - a, 0)"},
    {exact, "x - min(x + c0, y) -> max(x - y, fold(-c0))"},
    {exact, "x - max(x + c0, y) -> min(x - y, fold(-c0))"},
    {exact, "x - min(x - y, z) -> max(x - z, y)"},
    {exact, "x - max(x - y, z) -> min(x - z, y)"},
    {exact, "min(x + y, z) - x -> min(z - x, y)"},
    {exact, "max(x + y, z) - x -> max(z - x, y)"},
    {exact, "min(x + c0, y + c1) - min(x, y) -> c0 if c0 == c1"},
    {exact, "max(x + c0, y + c1) - max(x, y) -> c0 if c0 == c1"},
    {any, "select(x, y, z) - select(x, u, v) -> select(x, y - u, z - v)"},
    {integer, "select(x, a, z) - a -> select(x, 0, z - a)"},
    {integer, "select(x, y, a) - a -> select(x, y - a, 0)"},
    {integer, "a - select(x, a, z) -> select(x, 0, a - z)"},
    {integer, "a - select(x, y, a) -> select(x, a - y, 0)"},
    {integer, "select(x, y + w, z) - y -> select(x, w, z - y)"},
    {integer, "select(x, z, y + w) - y -> select(x, z - y, w)"},
    // Quotient and remainder.
    {integer, "x - (x / c0) * c0 -> x % c0 if c0 != 0"},
    {exact, "(x / c0) * c0 - x -> 0 - x % c0 if c0 != 0"},
    {exact, "((x + c0) / c1) * c1 - x -> c0 - (x + c0) % c1 if c1 != 0"},
    {exact, "x - ((x + c0) / c1) * c1 -> (x + c0) % c1 - c0 if c1 != 0"},
    {exact, "x - x % c0 -> (x / c0) * c0 if c0 != 0"},
    {exact, "(x + c0) / c1 - (x + c2) / c1 -> ((x + c2) % c1 + fold(c0 - c2)) / c1 if c1 > 0"},
    {exact, "(x + y) / c0 - (x % c0 + y) / c0 -> x / c0 if c0 > 0"},
    {exact, "(x + y) / c0 - x / c0 -> (x % c0 + y) / c0 if c0 > 0"},
    {exact, "x / c0 - (x + y) / c0 -> 0 - (x % c0 + y) / c0 if c0 > 0"},
    // Vectors.
    {integer, "ramp(x, y, l0) - ramp(z, w, l0) -> ramp(x - z, y - w, l0)"},
    {integer, "ramp(x, y, l0) - broadcast(z, l0) -> ramp(x - z, y, l0)"},
    {integer, "broadcast(a, l0) - ramp(y, z, l0) -> ramp(a - y, 0 - z, l0)"},
    {integer, "c0 - ramp(y, z, l0) -> ramp(c0 - y, 0 - z, l0)"},
};
// clang-format on

}  // namespace

const RuleFile sub_rules{NodeKind::Sub, "sub", rules, std::size(rules)};

}  // namespace calotype::internal
