// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What lowering and code generation agree on about kernels.
#pragma once

namespace calotype::internal {

/// Threads that run in step, on CUDA.
constexpr int warp_size = 32;

/// @name Bits of the argument of gpu_thread_barrier: where all threads of the block see, after it, what was stored before
/// @{
constexpr int fence_device = 1;      ///< device memory
constexpr int fence_shared = 2;      ///< shared memory
constexpr int fence_warpgroups = 4;  ///< shared memory, by products of warpgroups, too
/// @}

}  // namespace calotype::internal
