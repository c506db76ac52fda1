// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Storage around thread loops of which each thread keeps its part. Helper of fuse_thread_loops.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/stmt_nodes.h"
#include "lower/context.h"
#include "lower/gpu/kernel_nest.h"

namespace calotype::internal {

/// Allocations by name, with the thread loops between the allocation and its accesses.
using SplitStorage = std::map<std::string, std::vector<KernelLoop>>;

/// Each of these allocations becomes a thread's own part of it:
///
///     allocate f[int32, 64] in register              allocate f[int32, 4] in register
///     for (i, 0, 4) {                                for (i, 0, 4) {
///       f[thread_x*4 + i] = ...               ->       f[i] = ...
///     }                                              }
///
/// That needs a proof that no thread touches what is another's; without one it is the user's error.
/// `body` is what a thread does, with integer lets in place.
Stmt keep_parts_of_threads(const Stmt &body, const SplitStorage &storage, const LowerContext &ctx);

}  // namespace calotype::internal
