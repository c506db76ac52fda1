// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trim_no_ops: removes iterations that do nothing from the ends of loops.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// Where all of a loop's body is under a condition, the loop runs only over iterations in which it
/// can hold, and what does not depend on the iteration is asked before the loop.
///
///     for x in [0, n) {                   if a < b {
///       if x <= y && a < b && x % 3 {       let x.trimmed_min = 0, x.trimmed_end = min(y + 1, n)
///         f[x] = 1                     ->   for x in [x.trimmed_min, x.trimmed_end) {
///       }                                     if x % 3 {
///     }                                         f[x] = 1
///                                             }
///                                           }
///                                         }
///
/// A store of f[x] + select(x <= y, a, 0) counts as under the condition x <= y, and so do other
/// selects that give what is stored there already. Unless the target says strict_float, so does
/// f[x] + k*select(x <= y, a, 0), as a convolution of an image with zeros around it. What is done in one iteration after another
/// counts if all of it is under the same conditions, and so do the two sides of a branch. Clamps in what is added that the
/// condition makes superfluous go.
///
/// A condition stays where it does not hold in the whole range. So does one that reads memory, unless it reads inputs at
/// places that do not depend on the iteration.
///
/// Requires: flat storage.
/// Establishes: no hints of what is likely, which hide that a clamp is superfluous.
/// Order: after partition_loops, which needs these hints and has dropped the conditions that nearly always hold.
Stmt trim_no_ops(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
