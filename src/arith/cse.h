// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Common subexpression elimination.
#pragma once

#include "ir/expr.h"

namespace calotype::internal {

/// Name what occurs more than once:  `f(x * y) + g(x * y)`  ->  `let t0 = x * y in f(t0) + g(t0)`.
///
/// Existing Lets are dissolved first. Cheap things (one operation with a constant) are left in
/// place unless `lift_all`. Nothing that reads memory moves out of a branch of if_then_else; calls
/// with effects are never merged. Linear in the DAG of e; the same input gives the same names. New
/// names differ from all names in the input.
Expr common_subexpression_elimination(const Expr &e, bool lift_all = false);

/// For each expression of the statement; the parts of one Store or Provide share their lets, as
/// LetStmts around it.
Stmt common_subexpression_elimination(const Stmt &s, bool lift_all = false);

}  // namespace calotype::internal
