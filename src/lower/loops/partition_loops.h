// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// partition_loops: splits loops into a prologue, a steady state without boundary tests, and an
// epilogue.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// Splits a loop into the iterations in which everything likely() holds, without the tests, and
/// those before and after.
///
///     for x in [0, w) {
///       f[x] = g[max(likely(x - 1), 0)]
///       if likely(x < n) { h[x] = 1 }
///     }
///     ->
///     let x.steady_min = 1, x.steady_end = min(w, n)    (and clamped to the loop)
///     for x in [0, x.steady_min) { f[x] = g[max(x - 1, 0)]; if x < n { h[x] = 1 } }
///     for x in [x.steady_min, x.steady_end) { f[x] = g[x - 1]; h[x] = 1 }
///     for x in [x.steady_end, w) { as before }
///
/// Where the iterations before and after would change nothing, as those of a sum that reads zeros there, they stay away:
///
///     for r in [0, n) { f[x] += k[r] * select(likely(x - r < w), g[min(likely(x - r), w - 1)], 0) }
///     ->
///     for r in [x.steady_min, n) { f[x] += k[r] * g[x - r] }
///
/// Where both ends are needed they share one copy of the code. An innermost loop of few iterations
/// stays whole, as it is better unrolled than cut where that is known at run time only:
///
///     for c in [0, 3) { f[x] += g[min(likely(c), n)] }
///     ->
///     if 2 <= n { for c in [0, 3) { f[x] += g[c] } }
///     else { for c in [0, 3) { f[x] += g[min(c, n)] } }
///
/// So does one in a kernel, or outside of the steady state of a loop around, that adds up an unknown number of elements
/// around each point: where its parts begin would be computed for each point, and there may be fewer elements than that
/// takes instructions.
///
/// So does one around other loops whose steady state has one iteration at most, which would leave general code for all
/// others: the loops inside decide.
///
///     for x in [0, n) { for r in [0, n) { f[x] += g[min(likely(x + r), n - 1)] } }
///     ->
///     for x in [0, n) { for r in [0, n - x) { f[x] += g[x + r] }; for r in [n - x, n) { f[x] += g[min(x + r, n - 1)] } }
///
/// In a kernel it has no versions if all threads would choose the same.
///
/// A parallel loop stays one loop, with the two versions under a condition; so do the block loops of a
/// kernel, innermost of all, where a block chooses as a whole: what is likely in a loop over its threads
/// or in a short one is asked of all iterations. likely_if_innermost counts in loops without loops inside, and in
/// block loops.
/// Loops marked Partition::Never are left alone; for one marked Always it is a CompileError if
/// there is nothing to split off.
///
/// Requires: no vectorised loops.
/// Establishes: simplified. A serial loop with Partition::Never is one of iterations outside of a steady
///     state, or of the parts around it: they are few, and do not become vectors. Those that the schedule keeps
///     whole are Partition::Auto from here on.
/// Order: after vectorize_loops, whose conditions are about whole vectors.
Stmt partition_loops(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
