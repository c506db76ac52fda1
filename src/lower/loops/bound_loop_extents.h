// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bound_loop_extents: makes unrolled and vectorized loops whose extent is not constant run to a
// constant bound of it, and serial loops that run once at most conditions.
#pragma once

#include "lower/context.h"

namespace calotype::internal {

/// Copies and lanes must be so many; those beyond the extent do nothing.
///
///     let n = min(m, 8)                          let n = min(m, 8)
///     vectorized for x in [a, a + n) {     ->    vectorized for x in [a, a + 8) {
///       f[x] = x                                   if (likely(x < a + n)) f[x] = x
///     }                                          }
///
/// The bound may follow from lets and conditions around the loop. A loop without one stays as it
/// is. Vectors get no more than 1024 lanes, unrolled loops no more than 65536 copies.
///
/// A serial loop of one iteration or none is a condition, as where a choice narrows what is computed
/// of a single point. Unrolled code would have a loop for each copy, and steady states for each:
///
///     for x in [max(y, 0), max(y, 0) + n) {      if (0 < n) {
///       f[x] = x                             ->    let x = max(y, 0)
///     }                                            f[x] = x
///                                                }
///
/// Not in kernels, as it may hold barriers, and not where Partition::Always is asked of it.
///
/// Requires:    extents are simplified.
/// Establishes: the extent of an unrolled or vectorized loop is constant, or nothing bounds it.
/// Order:       after simplify_early, which finds most extents; before the passes that make copies
///              and lanes.
Stmt bound_loop_extents(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
