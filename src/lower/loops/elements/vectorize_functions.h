// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// vectorize_functions: makes vectors of innermost loops of elements whose functions the compiler behind it cannot.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// LLVM makes vectors of loops without a schedule, but not of those with a branch, and sines, logarithms and powers have one
/// for what is rare. So a loop over neighbours in memory that computes some of them is a loop over vectors:
///
///     for x in [a, a + n) {                 for x.vector in [0, (n + 7) / 8) {
///       f[x] = sin(g[x])             ->       vectorized for x.lane in [0, 8) {
///     }                                         let x = a + x.vector*8 + x.lane
///                                               if likely(x < a + n) { f[x] = sin(g[x]) }
///                                           } }
///
/// No iteration may read what another one writes. Not where passes of the program follow, which expect the loops of its schedule.
///
/// Requires: flat storage.
/// Establishes: nothing that other passes rely on.
/// Order: after unroll_loops; before vectorize_loops.
Stmt vectorize_functions(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
