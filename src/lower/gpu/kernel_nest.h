// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The form that kernels have between fuse_thread_loops and offload_kernels. Helper of the passes in
// this folder.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ir/conventions/kernels.h"
#include "ir/stmt_nodes.h"

namespace calotype::internal {

/// Dimensions of blocks, and of threads: x, y, z.
constexpr int max_gpu_dims = 3;
/// Threads of a block that any device's limit allows.
constexpr int64_t max_block_threads = 1024;
/// In each dimension, on CUDA: x, y, z.
constexpr std::array<int64_t, max_gpu_dims> max_cuda_block_size = {1024, 1024, 64};

inline bool is_thread_loop(const For *op) {
    return op->for_type == ForType::GPUThread || op->for_type == ForType::GPULane;
}

/// One loop of the nest, without its body.
struct KernelLoop {
    std::string name;
    Expr extent;  ///< min is 0
};

/// Nested directly, but for lets: at most three block loops, then at most three thread loops, then
/// the body. Loops count from 0:
///
///     gpu_block bz, by, bx:  gpu_thread tz, ty, tx:  body
struct KernelNest {
    std::vector<KernelLoop> blocks, threads;         ///< innermost (x) first
    std::vector<std::pair<std::string, Expr>> lets;  ///< between the loops, outermost first
    DeviceAPI api = DeviceAPI::Default_GPU;
    Stmt body;  ///< what a thread does

    /// The same as a statement; the lets stand around the body.
    Stmt to_stmt() const;
    /// Number of threads of a block, or of blocks, in dimension d; 1 where there is no such loop.
    Expr block_size(int d) const;
    Expr grid_size(int d) const;
};

/// The nest that begins with this block loop.
KernelNest match_kernel(const For *outermost);

/// Rewrites each kernel of `s`: the outermost block loops, in the order of the text.
Stmt rewrite_kernels(const Stmt &s, const std::function<Stmt(const For *)> &rewrite);

/// What all threads do as iterations of one nest of thread loops, which do not depend on each other:
/// it needs no barrier inside. From fuse_thread_loops to insert_barriers it stands under a condition
/// that no pass knows anything of, with a number of its own so that two of them stay apart:
///
///     if (extern gpu_step(0):bool) { g[thread_x] = 0  g[thread_x] = g[thread_x] + f[thread_x] }
Stmt make_step(int number, const Stmt &body);
/// Without these conditions.
Stmt drop_steps(const Stmt &s);

}  // namespace calotype::internal
