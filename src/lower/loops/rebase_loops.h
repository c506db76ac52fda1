// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rebase_loops: short loops run from zero on.
#pragma once

#include "lower/context.h"

namespace calotype::internal {

/// A serial loop of few iterations, whose number is constant, counts from zero where it began at a small expression, if
/// LLVM is going to unroll it. Places in what is stored for it alone are constants then, and the storage becomes registers.
///
///     for x in [y - 1, 3) {                 for x in [0, 3) {
///       f[x - y + 1] = g[x]          ->       f[x + y - 1 - y + 1] = g[x + y - 1]
///     }                                     }
///
/// Requires: vector loops are gone.
/// Establishes: nothing that other passes rely on.
/// Order: after partition_loops, which compares the ends of loops; before simplify_late, which simplifies the indices.
Stmt rebase_loops(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
