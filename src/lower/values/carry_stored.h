// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// carry_stored: what the last iterations stored, and this one reads, stays in registers.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// A serial loop that reads again what it stored an iteration before, or two or three, keeps it:
///
///     for r in [1, n) {                               if 1 < n {
///       f[r] = f[r - 1] * 0.5f + g[r]          ->       f.carried[0] = f[0]
///     }                                                 for r in [1, n) {
///                                                         let f.stored = f.carried[0] * 0.5f + g[r]
///                                                         f[r] = f.stored
///                                                         f.carried[0] = f.stored
///                                                       }
///                                                     }
///
/// A load waits for the store in front of it: on a GPU for hundreds of cycles, on the host for four or five. The compiler
/// behind this one does it where it can show that the distance is one iteration, for which the stride has to be a constant.
/// What stays at one place in all iterations is left to it. The loop has no other store to the buffer, in each iteration
/// one, and no loop inside.
///
/// Requires: flat storage, no vectorised or unrolled loops, simplified.
/// Establishes: nothing that other passes rely on.
/// Order: after unroll_loops and partition_loops, which make of one store several; before fuse_thread_loops, while the
///     loops over the threads of a kernel say what each thread has for itself.
Stmt carry_stored(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
