// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pack_shared_memory: overlays shared storage with disjoint live ranges.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// Where it saves memory, storage of a kernel that lives at different times has one place in shared
/// memory:
///
///     allocate a[float32, 64] in gpu_shared         allocate shared[uint8, 256] in gpu_shared
///     a[thread_x] = ...                             allocate shared$1[uint8, 256] in gpu_shared
///     barrier                                       shared[thread_x] = ...
///     allocate b[float32, 64] in gpu_shared    ->   barrier
///     b[thread_x] = a[63 - thread_x]                shared$1[thread_x] = shared[63 - thread_x]
///     barrier                                       barrier
///     allocate c[float32, 64] in gpu_shared         shared[thread_x] = shared$1[63 - thread_x]
///     c[thread_x] = b[63 - thread_x]
///
/// Where there is more than may be declared, or of a size that is not constant, all places are in
/// one allocation.
///
/// Storage may only follow other storage in its place where a barrier stands between them.
///
/// Requires: barriers (insert_barriers).
/// Establishes: the shared storage of a kernel has a constant size of at most 48 KB, or is one
///     allocation whose size the host knows.
/// Order: after insert_barriers, which tells buffers apart by their names.
Stmt pack_shared_memory(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
