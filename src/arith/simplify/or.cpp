// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules of a || b. Each has its mirror image in and.cpp.
#include <iterator>

#include "arith/simplify/rule.h"

namespace calotype::internal {

namespace {

// clang-format off
constexpr RuleText rules[] = {
    {any, "x || false -> x"},
    {any, "x || true -> true"},
    {any, "x || x -> x"},
    {any, "x || !x -> true"},
    {any, "x || (x || y) -> x || y"},
    {any, "x || (!x || y) -> true"},
    {any, "x || (x && y) -> x"},
    {any, "x || (!x && y) -> x || y"},
    {any, "(x && y) || (x && z) -> x && (y || z)"},
    {any, "(x || y) || (x || z) -> (x || y) || z"},
    // Two comparisons of the same things.
    {integer, "x <= y || y <= x -> true"},
    {integer, "x < y || y <= x -> true"},
    {any, "x < y || x <= y -> x <= y"},
    {integer, "x < y || y < x -> x != y"},
    {any, "x == y || x != y -> true"},
    {any, "x < y || x == y -> x <= y"},
    {any, "x < y || x != y -> x != y"},
    {any, "x <= y || x == y -> x <= y"},
    {integer, "x <= y || x != y -> true"},
    // Bounds by constants.
    {ordered, "x < c0 || x < c1 -> x < fold(max(c0, c1))"},
    {ordered, "c0 < x || c1 < x -> fold(min(c0, c1)) < x"},
    {ordered, "x <= c0 || x <= c1 -> x <= fold(max(c0, c1))"},
    {ordered, "c0 <= x || c1 <= x -> fold(min(c0, c1)) <= x"},
    {any, "x < c0 || x <= c1 -> x <= c1 if c0 <= c1"},
    {any, "x < c0 || x <= c1 -> x < c0 if c1 < c0"},
    {any, "c0 < x || c1 <= x -> c1 <= x if c1 <= c0"},
    {any, "c0 < x || c1 <= x -> c0 < x if c0 < c1"},
    {integer, "c0 < x || x < c1 -> true if c0 < c1"},
    {integer, "c0 <= x || x < c1 -> true if c0 <= c1"},
    {integer, "c0 < x || x <= c1 -> true if c0 <= c1"},
    {integer, "c0 <= x || x <= c1 -> true if c0 <= c1 + 1"},
    {any, "x != c0 || x != c1 -> true if c0 != c1"},
    {any, "x == c0 || x != c1 -> x != c1 if c0 != c1"},
    {any, "x == c0 || x < c1 -> x < c1 if c0 < c1"},
    {any, "x == c0 || c1 < x -> c1 < x if c1 < c0"},
    {any, "x == c0 || x <= c1 -> x <= c1 if c0 <= c1"},
    {any, "x == c0 || c1 <= x -> c1 <= x if c1 <= c0"},
};
// clang-format on

}  // namespace

const RuleFile or_rules{NodeKind::Or, "or", rules, std::size(rules)};

}  // namespace calotype::internal
