// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// load_densely: combines strided loads into dense ones with shuffles.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// Strided loads that together touch much of what lies between them become slices of dense ones.
///
///     f[x] = g[ramp(2*x, 2, 8)]                  ->      let t = g[ramp(2*x, 1, 16)]
///     h[x] = g[ramp(2*x + 1, 2, 8)]                      f[x] = slice(t, 0, 2, 8)
///                                                        h[x] = slice(t, 1, 2, 8)
///
/// Of long rows, all elements are taken out at once:
///
///     f[x] = g[ramp(0, 16, 8)]                   ->      let t = transpose(g[ramp(0, 1, 128)])
///     ...                                                f[x] = slice(t, 0, 1, 8)
///     f[x + 120] = g[ramp(15, 16, 8)]                    ...
///
/// A dense load reaches beyond the last element that a strided one reads. It does so where another
/// load, which runs whenever this one does, reads at least as far, or where the pipeline allocates
/// the buffer, which is padded then. Otherwise, if the stride is small, two loads overlap.
///
/// What several statements need is loaded before the first, if nothing stores to the buffer there.
///
/// In kernels each statement is taken by itself, and only what its own loads read is touched.
///
/// Requires: vector code, simplified.
/// Establishes: nothing that other passes rely on.
/// Order: after the last flatten_ramps, whose rows may be strided, and partition_loops, whose steady
///     states have indices without clamps; before split_lanes, which counts shuffles as work.
Stmt load_densely(const Stmt &s, LowerContext &ctx);

/// What it does with the loads of a value.
Expr load_densely(const Expr &e);

}  // namespace calotype::internal
