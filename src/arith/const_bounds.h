// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constant bounds of sizes and coordinates, for allocations and checks.
#pragma once

#include <map>
#include <string>

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

/// Constant ranges of int32 variables.
using ConstantRanges = std::map<std::string, ConstantInterval>;

/// The ranges where the condition holds. Where it never does, one of them is empty, or more is in
/// them than can be.
ConstantRanges narrowed_by(const Expr &condition, ConstantRanges vars);

}  // namespace calotype::internal
