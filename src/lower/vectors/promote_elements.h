// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// promote_elements: elements that a loop updates stay in registers while it runs.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// Lanes a constant apart with gaps between them, or under a condition, which all iterations of a loop read and write, are a
/// vector of their own while the loop runs:
///
///     for r in [0, n) {                                      if 0 < n {
///       f[ramp(x, 8, 4)] = f[ramp(x, 8, 4)] + g[r]   ->        f.kept[ramp(0, 1, 4)] = f[ramp(x, 8, 4)]
///     }                                                        for r in [0, n) { f.kept[...] = f.kept[...] + g[r] }
///                                                              f[ramp(x, 8, 4)] = f.kept[ramp(0, 1, 4)]
///                                                            }
///
/// The compiler behind this one promotes single elements and dense vectors so; of the others it takes each lane
/// for itself, and puts them together and apart again in each iteration, or leaves them in memory. The loop must
/// touch the buffer in no other way, and each of several such places in each iteration; none may share an element
/// with another. Not in kernels.
///
/// Requires: vector code, simplified.
/// Establishes: nothing that other passes rely on.
/// Order: after accumulate_lanes, which leaves one element of a vector that is reduced; after trim_no_ops, which
///     looks for stores that change nothing.
Stmt promote_elements(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
