// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// vectorize_loops: turns vectorized loops into vector code.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// All iterations of a vectorised loop at once, one a lane.
///
///     vectorized for x in [a, a + 8) { f[x] = g[x] + h[y] }
///     ->  f[ramp(a, 1, 8)] = g[ramp(a, 1, 8)] + x8(h[y])
///
///     vectorized for x in [a, a + 8) {      if likely(a + 7 < n) {
///       if likely(x < n) {                    f[ramp(a, 1, 8)] = 1
///         f[x] = 1                      ->  } else if a < n {
///       }                                     f[ramp(a, 1, 8)] = 1 if ramp(a, 1, 8) < x8(n)
///     }                                     }
///
/// Of nested vectorised loops the inner one's lanes are innermost. What has no vector form becomes
/// a serial loop. Within `atomic`, iterations that update one element become a reduction over
/// lanes; a loop that fuse() made of two is two again there:
///
///     vectorized for xr in [0, 16) { atomic { f[xr % 8] = f[xr % 8] + g[xr] } }
///     ->  f[ramp(0, 1, 8)] = f[ramp(0, 1, 8)] + (slice(g[ramp(0, 1, 16)], 0, 1, 8) +
///                                                slice(g[ramp(0, 1, 16)], 8, 1, 8))
///
/// Requires: flat storage; extents of vectorised loops are constant (CompileError else).
/// Establishes: no For of ForType::Vectorized; simplified.
/// Order: after unroll_loops, so that unrolled copies are few statements of vectors; all later
///     passes see vectors.
Stmt vectorize_loops(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
