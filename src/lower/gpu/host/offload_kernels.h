// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// offload_kernels: moves kernels into device modules and replaces them by launches.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// Each nest of GPU loops becomes a DeviceKernel of ctx.device_modules and a launch of it:
///
///     gpu_block<cuda> (bx, 0, n) {            let f_s0.result = gpu_launch(hold, "f_s0", n, 1, 1,
///       gpu_thread<cuda> (tx, 0, 16) {            16, 1, 1, 0, buffer_get_device(f.buffer), w)
///         f[bx*16 + tx] = w             ->    assert(f_s0.result == 0, f_s0.result)
///       }
///     }                                       kernel f_s0(f, w): f[gpu_block_index(0)*16 +
///                                                                  gpu_thread_index(0)] = w
///
/// Where the number of blocks or threads may be none, the launch stands under a condition.
/// A kernel is named by the Func and the stage whose loop is the outermost. All launches for one
/// API stand inside of one hold of the object's kernels:
///
///     let cuda.hold = alloca(16)
///     let cuda.begun = extern calotype_begin_kernels(__user_context,
///         gpu_module_descriptor("cuda"), cuda.hold)
///     assert(cuda.begun == 0, cuda.begun)
///     evaluate register_destructor("calotype_end_kernels", cuda.hold)
///     ...
///
/// Requires: the form of lower/gpu/kernel_nest.h; `name.buffer` is the header of each buffer that a
///     kernel uses.
/// Establishes: no GPU loops.
/// Order: after simplification, which then is the kernels' too.
Stmt offload_kernels(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
