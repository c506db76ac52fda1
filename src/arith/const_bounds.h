// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constant bounds of sizes and coordinates, for allocations and checks.
#pragma once

#include <optional>

#include "arith/interval.h"
#include "support/scope.h"

namespace calotype::internal {

enum class Direction : uint8_t { Lower, Upper };

/// A constant c with e <= c (Upper) or c <= e (Lower) for all values of its variables, those in
/// `vars` within their interval; an expression of e's element type, undefined if none is found.
/// Looks harder than constant_bounds: the expression is simplified, and differences that share
/// terms are cancelled.
Expr find_constant_bound(const Expr &e, Direction d,
                         const Scope<Interval> &vars = Scope<Interval>());

/// Both ends at once, of integers.
ConstantInterval find_constant_bounds(const Expr &e,
                                      const Scope<Interval> &vars = Scope<Interval>());

}  // namespace calotype::internal
