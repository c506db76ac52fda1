// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// place_kernel_storage: decides which memory holds the storage of kernels.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// Storage inside of block loops is of one of three kinds:
///
/// - around thread loops: what the block's threads share. MemoryType::Auto becomes GPUShared, and
///   so do Stack and Register where only lanes share it (`ctx.lane_storage`);
/// - of one thread: Auto becomes Stack; Heap stays, and becomes Stack where its size has a bound
///   (bound_small_allocations), else it comes from the device's own heap
///   (../storage/device_heap.h);
/// - Heap around thread loops: one piece of device memory for all blocks, made by the host:
///
///     gpu_block (b, 0, n) {                           allocate f[float32, 64, n] in heap
///       allocate f[float32, 64] in heap               gpu_block (b, 0, n) {
///       gpu_thread (t, 0, 64) { f[t] = ... }    ->      gpu_thread (t, 0, 64) { f[t + b*64] = ...
///       }
///     }                                               }
///
/// Requires: flat storage.
/// Establishes: kernels allocate MemoryType::Heap only for one thread, and Auto only outside of
///     thread loops where there are none inside.
/// Order: before inject_device_copies, which gives the
///     host's storage its place on the device, and bound_small_allocations.
Stmt place_kernel_storage(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
