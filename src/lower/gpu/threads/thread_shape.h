// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The number of threads in each dimension that the loops of a kernel ask for. Helper of
// fuse_thread_loops.
#pragma once

#include <array>
#include <unordered_map>
#include <unordered_set>

#include "lower/context.h"
#include "lower/gpu/kernel_nest.h"
#include "lower/gpu/largest_of_blocks.h"

namespace calotype::internal {

/// The thread loops of a block.
struct ThreadShape {
    int dims = 0;
    std::array<Expr, max_gpu_dims> size;  ///< of a block, in terms of what is outside of the kernel
    std::unordered_map<const For *, int> dim;           ///< of each thread loop
    std::unordered_set<const StmtNode *> with_threads;  ///< statements that hold thread loops
};

/// Of the body of the innermost block loop; `outside` knows the variables of the block loops, and
/// the kernel goes into `largest.around` as the sizes are in terms of that.
/// CompileError if a size has no bound, or there are more than three dimensions.
ThreadShape find_thread_shape(const Stmt &body, const PlaceInKernel &outside,
                              const std::string &kernel, LargestOfBlocks &largest,
                              const LowerContext &ctx);

}  // namespace calotype::internal
