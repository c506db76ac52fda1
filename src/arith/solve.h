// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Solving expressions for a variable, and the ranges of a variable where a condition holds.
#pragma once

#include <string>

#include "arith/interval.h"
#include "ir/expr.h"
#include "support/scope.h"

namespace calotype::internal {

/// What solve_expression could do.
struct SolverResult {
    Expr result;  ///< equivalent to the input, undefined if the input was
    bool fully_solved =
        false;  ///< in each comparison `var` stands alone on the left side, and nowhere else
};

/// Rearrange e so that `var` stands on the left: `3 * x + y < z` becomes `x < (z - y + 2) / 3`; a
/// sum is collected to `x * 3 + y`. Arithmetic types alone are rearranged where they do not wrap
/// (int32, int64); the rest is left as it is.
SolverResult solve_expression(const Expr &e, const std::string &var);

/// An interval of `var` such that `condition` holds for each value in it (but maybe for others,
/// too). Nothing if none is found.
Interval solve_for_inner_interval(const Expr &condition, const std::string &var);

/// An interval of `var` outside of which `condition` does not hold. Everything if none is found.
Interval solve_for_outer_interval(const Expr &condition, const std::string &var);

/// A condition without the variables of `vars` that implies `condition` for all values that they
/// can take.
Expr and_condition_over_domain(const Expr &condition, const Scope<Interval> &vars);

}  // namespace calotype::internal
