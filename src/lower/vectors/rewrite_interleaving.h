// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rewrite_interleaving: combines strided stores into dense ones with shuffles.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// Stores that are strided each on their own, but together touch everything, become one dense store.
///
///     f[ramp(3*x, 3, 8)] = a                     ->      f[ramp(3*x, 1, 24)] = interleave(a, b, c)
///     f[ramp(3*x + 1, 3, 8)] = b
///     f[ramp(3*x + 2, 3, 8)] = c
///
///     f[ramp(x, 16, 3)] = g[ramp(y, s, 3)]                f[ramp(x, 1, 16)] = g[ramp(y, 1, 16)]
///     f[ramp(x + 1, 16, 3)] = g[ramp(y + 1, s, 3)]   ->   f[ramp(x + 16, 1, 16)] = g[ramp(y + s, 1, 16)]
///     ...                                            f[ramp(x + 32, 1, 16)] = g[ramp(y + s * 2, 1, 16)]
///
/// None may read what another of them writes, nor what stands between them.
///
/// Requires: vector code, simplified.
/// Establishes: nothing that other passes rely on.
/// Order: after unroll_loops and vectorize_loops, which make such groups; before partition_loops
///     copies them.
Stmt rewrite_interleaving(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
