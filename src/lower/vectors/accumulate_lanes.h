// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// accumulate_lanes: reductions in lanes combine them after the loop, not in each iteration.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// An element into which each iteration of a loop reduces lanes is kept as lanes of its own:
///
///     for r in [0, n) {                               allocate f.lanes[8] in stack
///       f[0] = f[0] + vector_reduce(add, v, 1)   ->   f.lanes[ramp(0, 1, 8)] = broadcast(0, 8)
///     }                                               for r in [0, n) {
///                                                       f.lanes[...] = f.lanes[...] + v
///                                                     }
///                                                     f[0] = f[0] + vector_reduce(add, f.lanes[...], 1)
///
/// Products of narrow factors are reduced as far as there are instructions that add up products, and what
/// counts lanes is added up as bytes (count_in_bytes.h).
/// Several such stores to one element share the lanes. The loop must touch the buffer in no other
/// way, and the lanes must fit four registers. Not in kernels.
///
/// Requires: vector code, simplified.
/// Establishes: nothing that other passes rely on.
/// Order: after narrow_lanes, which leaves alone what is reduced; after partition_loops, whose steady
///     states have lanes without conditions.
Stmt accumulate_lanes(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
