// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pipeline_async_copies: what a block copies into shared memory is on its way while threads
// compute.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// Storage in GPUSharedAsync that a serial loop fills in each iteration has room for n iterations,
/// and is filled n - 1 iterations ahead of its use. n is what ring_buffer says, or 2.
///
///     for (k, 0, m) {                            allocate a[float32, 16*3] in gpu_shared_async
///       allocate a[float32, 16] in               if (0 < m) { async_copy(a, t, g, t, 1) }
///           gpu_shared_async                     commit
///       a[t] = g[k*16 + t]                 ->    if (1 < m) { async_copy(a, t+16, g, 16+t, 1) }
///       f[t] = f[t] + a[15 - t]                  commit
///     }                                          for (k, 0, m) {
///                                                  wait(1)
///                                                  barrier
///                                                  if (k + 2 < m) {
///                                                    async_copy(a, (k + 2)%3*16 + t, g,
///                                                               (k + 2)*16 + t, 1)
///                                                  }
///                                                  commit
///                                                  f[t] = f[t] + a[k%3*16 + 15 - t]
///                                                }
///
/// The barrier is for both: what was copied is there for all threads, and no thread still reads the
/// copy that is filled next. Stores of other things than what device memory holds stay stores.
/// Loops in the loop are done in the same way, each with its own storage.
/// A fill that is offered as a copy of a rectangle (gpu_tile_offer) is started by one thread, and
/// waited for at a counter in shared memory, one for each place of the ring.
/// If the filling depends on what the loop computes, if the loop is divergent, if its body has
/// storage of one name twice, or where no loop is around, the storage becomes GPUShared.
///
/// Requires: the form of lower/gpu/kernel_nest.h.
/// Establishes: storage in GPUSharedAsync has the barriers that it needs.
/// Order: after fuse_thread_loops, which finds out what threads share; before insert_barriers.
Stmt pipeline_async_copies(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
