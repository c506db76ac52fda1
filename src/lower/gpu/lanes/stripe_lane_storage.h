// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// stripe_lane_storage: distributes storage over the registers of a warp's lanes.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// Shared storage that lanes alone use becomes storage of each lane, where each stores elements of
/// its own only. What others have comes by warp_shuffle: from a lane by number, from so many lanes
/// up or down, or from the lane whose number differs in some bits.
///
///     allocate g[float32, 64] in gpu_shared        allocate g[float32, 2] in register
///     g[thread_x] = ...                            g[0] = ...
///     g[thread_x + 32] = ...                ->     g[1] = ...
///     if (thread_x < 31) {                         let t = warp_shuffle(g[0], 1, 2)
///       f[thread_x] = g[thread_x + 1]              if (thread_x < 31) {
///     }                                              f[thread_x] = t
///                                                  }
///
/// All lanes of a warp take part in a shuffle, so it stands in front of conditions that lanes
/// decide differently; such conditions move into the loops that a shuffle stands in. Elements are
/// dealt to the lanes in turn (lane_stripes.h). Storage for which that cannot be shown
/// to be right stays shared. So does storage in MemoryType::Auto of more elements a lane than a
/// few, or whose places in a lane are not constants; in Register or Stack any goes.
///
/// Requires: the form of lower/gpu/kernel_nest.h; `ctx.lane_storage`, from place_kernel_storage.
/// Establishes: nothing that other passes rely on. Kernels for CUDA alone have shuffles.
/// Order: after fuse_thread_loops, where indices are functions of threads; before insert_barriers,
///     as registers need none.
Stmt stripe_lane_storage(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
