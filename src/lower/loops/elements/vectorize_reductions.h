// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// vectorize_reductions: makes vectors of loops of elements, each of which is a reduction of unknown length.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// LLVM makes vectors of innermost loops alone. Where these are reductions, a vector has terms of one element: they are
/// added to each other at the end, and what is left of a short row is added one by one. So a loop over neighbours in
/// memory that contains reductions is a loop over vectors, each lane of which has an element of its own. The last vector
/// begins where it fits:
///
///     for x in [a, a + n) {                 if n >= 8 {
///       allocate sum[1]                       for x.vector in [0, (n + 7) / 8) {
///       sum[0] = 0                              let x.base = a + min(x.vector*8, n - 8)
///       for r in [0, m) {                       allocate sum[8]
///         sum[0] += g[x + r]         ->         sum[ramp(0, 1, 8)] = x8(0)
///       }                                       for r in [0, m) { sum[ramp(0, 1, 8)] += g[ramp(x.base + r, 1, 8)] }
///       f[x] = sum[0]                           f[ramp(x.base, 1, 8)] = sum[ramp(0, 1, 8)]
///     }                                       }
///                                           } else { ... as before ... }
///
/// Where an element is updated in memory, which must happen once, the elements after the last whole vector are computed
/// one by one.
///
/// All lanes take part in the same iterations of the reductions, in their order. What one reads is the same for all lanes
/// or of neighbours, and nothing that another iteration writes. Not where passes of the program follow, which expect the
/// loops of its schedule.
///
/// Requires: flat storage; no vectorised loops.
/// Establishes: nothing that other passes rely on.
/// Order: after partition_loops, so that what is clamped near the edges stays elements, and what is between is not
///     clamped; before the passes that improve vectors.
Stmt vectorize_reductions(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
