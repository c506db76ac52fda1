// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions of lanes that lie apart. Helper of flatten_ramps.
#pragma once

#include "ir/expr_nodes.h"

namespace calotype::internal {

/// The reduction of `value` to so many lanes. Where its groups are columns of rows, the rows are
/// combined as they are:
///
///     reduce_add(transpose(v), 8), of 4 rows     ->      (slice(v, 0, 1, 8) + slice(v, 8, 1, 8)) + ...
///
/// Where the columns were rows to begin with, they are so again. A sum of rows of products of narrow
/// factors, whose lanes are reduced, is the sum of the reductions: machines have an operation for
/// each.
Expr reduce_rows(VectorReduce::Operator op, const Expr &value, int lanes);

}  // namespace calotype::internal
