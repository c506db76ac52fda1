// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// insert_barriers: adds barriers where a thread needs what another one stores.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// A barrier stands between two accesses of storage that threads share if one of them is a store,
/// and different threads may touch the same element by them.
///
///     g[thread_x] = ...                                 g[thread_x] = ...
///     h[thread_x] = g[thread_x] + 1             ->      h[thread_x] = g[thread_x] + 1
///     f[thread_x] = h[thread_x + 1]                     evaluate gpu_thread_barrier(2)
///                                                       f[thread_x] = h[thread_x + 1]
///
/// Loads before stores count as well, and what comes around in a loop. All threads reach a barrier
/// together: it stands under no condition that threads decide differently.
/// A barrier that is there already fences what is touched before it as well. A step (see make_step
/// in kernel_nest.h) needs none inside; steps are gone after this pass.
///
/// Requires: the form of lower/gpu/kernel_nest.h; conditions on threads stand around what needs no
///     barrier inside (fuse_thread_loops).
/// Establishes: what one thread stores another may load.
/// Order: after the passes that say what threads share (fuse_thread_loops to pipeline_async_copies), before anything else
///     moves loads and stores.
Stmt insert_barriers(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
