// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// flatten_ramps: turns accesses by ramps of vectors into accesses by plain ramps.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// A load or store of several rows becomes one for each row.
///
///     f[ramp(ramp(x, 1, 8), x8(s), 2)]  ->  concat(f[ramp(x, 1, 8)], f[ramp(x + s, 1, 8)])
///
///     f[ramp(ramp(x, 1, 8), x8(s), 2)] = v       ->      let t = v
///                                                        f[ramp(x, 1, 8)] = slice(t, 0, 1, 8)
///                                                        f[ramp(x + s, 1, 8)] = slice(t, 8, 1, 8)
///
///     f[ramp(x8(x), x8(s), 2)]                   ->      f[ramp(x, s, 2)], each lane 8 times
///
/// Where the slower dimension is the dense one, the rows go along it, and are transposed; not in
/// kernels:
///
///     f[ramp(ramp(x, s, 2), x2(1), 8)]           ->      interleave(f[ramp(x, 1, 8)], f[ramp(x + s, 1, 8)])
///
///     f[ramp(g[ramp(x, 1, 2)], x2(1), 8)]        ->      interleave(f[ramp(g[x], 1, 8)], f[ramp(g[x + 1], 1, 8)])
///
///     f[ramp(ramp(x, s, 2), x2(1), 8)] = v       ->      let t = interleave(lanes 0 1 of v, lanes 2 3, ...)
///                                                        f[ramp(x, 1, 8)] = slice(t, 0, 1, 8)
///                                                        f[ramp(x + s, 1, 8)] = slice(t, 8, 1, 8)
///
/// Loads of lanes that are constants apart, and near each other, become dense loads of all there is
/// from the first to the last, and a shuffle; not in kernels:
///
///     f[ramp(x * 16, 1, 16) / x16(4)]            ->      f[ramp(x * 4, 1, 4)], each lane 4 times
///
/// Requires: vector code, simplified, so that ramps are seen as such.
/// Establishes: no load or store by a ramp of vectors, but for updates within `atomic`.
/// Order: after vectorize_loops makes them; before rewrite_interleaving, which knows plain ramps
///     only. Again after partition_loops, whose steady states have indices without clamps.
Stmt flatten_ramps(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
