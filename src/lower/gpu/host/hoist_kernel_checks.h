// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hoist_kernel_checks: moves assertions out of kernels, to before their launch.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// A kernel has no way to say that something is wrong.
///
///     gpu_block (b, 0, n) {                          assert(!(k > 0) || 8*k + 1 <= 64, ...)
///       if (k > 0) {                                 gpu_block (b, 0, n) {
///         assert(8*k + 1 <= 64, ...)        ->         if (k > 0) {
///         ...                                            ...
///       }                                              }
///     }                                              }
///
/// The condition is required of all values that the loops' variables take, wherever what stands
/// around it (conditions, loops that run) holds; numbers in the message are the largest. It is a
/// CompileError if that cannot be said without the kernel's own variables.
///
/// Requires: flat storage.
/// Establishes: no assertions in GPU loops.
/// Order: after simplify_early, so that what does not depend on a loop is seen not to; before loops
///     are unrolled and vectorized, checks and all.
Stmt hoist_kernel_checks(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
