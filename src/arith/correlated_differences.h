// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bounds of sums and differences whose operands move together.
#pragma once

#include "arith/bounds.h"

namespace calotype::internal {

/// As bounds_of_expr, but where e is monotonic in a variable of `vars` that it uses more than once,
/// its ends come from the ends of that variable: for x in [a, b],  x - x / 2  is in [a - a / 2, b -
/// b / 2], not in [a - b / 2, b - a / 2].
Interval bounds_of_correlated(const Expr &e, const Scope<Interval> &vars,
                              const FuncValueBounds &funcs = {});

/// True if e is small and uses one variable of `vars` more than once: only then
/// bounds_of_correlated can do better.
bool has_repeated_variable(const Expr &e, const Scope<Interval> &vars);

/// Rewrite the sums and differences in s so that lets and common terms cancel before bounds are
/// taken:
///   let a = x + 5 in f(a - x)   ->   f(5)
Expr cancel_correlated_differences(const Expr &e);
Stmt cancel_correlated_differences(const Stmt &s);

}  // namespace calotype::internal
