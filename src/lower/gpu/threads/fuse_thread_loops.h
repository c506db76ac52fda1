// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fuse_thread_loops: fuses the thread loops of all stages of a kernel into one block of threads.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// All thread loops of a kernel become one nest of thread loops around everything, as large as the
/// largest of them; the stages keep only the threads that they had. What stands outside of all
/// thread loops is done by one thread. Loops over blocks and threads count from 0.
///
///     gpu_block (bx, 0, n) {                          gpu_block (bx, 0, n) {
///       gpu_thread (i, 4, 18) { g[i] = ... }            gpu_thread (thread_x, 0, 18) {
///       c[0] = 1                              ->          let i = thread_x + 4; g[i] = ...
///       gpu_thread (j, 0, 16) { f[j] = ... }              if thread_x == 0 { c[0] = 1 }
///     }                                                   if thread_x < 16 { f[thread_x] = ... }
///                                                     } }
///
/// A thread loop inside of which no other is, is dimension x; one around it y; then z. Conditions
/// on threads stand as far in as they can, so that barriers may be placed between stages.
/// Storage between thread loops of which some enclose it has room for each of these. Of storage in
/// Stack or Register around thread loops each thread keeps its part (thread_storage.h).
///
/// Requires: flat storage; no vectorised or unrolled loops.
/// Establishes: every kernel has the form of lower/gpu/kernel_nest.h, with steps where threads
///     update what they share. Storage in a kernel is
///     GPUShared, or Stack or Register of a thread's own.
/// Order: after loops have their final shape; before passes that look at what threads share.
Stmt fuse_thread_loops(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
