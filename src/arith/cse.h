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

/// True if the tree of e has at least `small` nodes and is 8 times as large as its graph, at least:
/// what squares a value 40 times has 2^40 paths.
bool is_repetitive(const Expr &e, int small = 2048);
/// Common subexpression elimination of such expressions alone. All else stays as it is.
Expr name_repeated(const Expr &e);
Stmt name_repeated(const Stmt &s);

}  // namespace calotype::internal
