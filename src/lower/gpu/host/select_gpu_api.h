// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// select_gpu_api: replaces the default GPU of loops by the API of the target.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// Default_GPU becomes the first GPU of the target: CUDA, then OpenCL, then Vulkan. A loop for a
/// GPU that the target does not have is the user's error, which names the Func.
///
///     gpu_block<default_gpu> (bx, 0, n) { ... }    ->    gpu_block<cuda> (bx, 0, n) { ... }
///
/// Requires:    loops.
/// Establishes: the API of every GPU loop is one that the target has, and loops inside of others
///     have the same.
/// Order:       as soon as there are loops, so that errors come early.
Stmt select_gpu_api(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
