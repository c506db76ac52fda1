// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// check_gpu_loops: checks that a GPU can run the schedule.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// The statement as it is but for what the end says, or a CompileError that names the Func or loop:
///
/// - blocks stand inside of nothing but serial, unrolled and parallel loops, threads inside of
///   blocks, lanes innermost; at most three of blocks, and of threads and lanes, inside of each
///   other; the blocks of a kernel are those of one Func;
/// - a kernel has no loops of other kinds than serial, unrolled and vectorized;
/// - what is computed in a kernel is neither async, memoized, traced nor extern, and prints nothing
///   and calls no function of the host;
/// - storage in GPUSharedAsync is inside of a kernel.
///
/// Storage in GPUShared that stands outside of all kernels becomes Auto, with a warning.
///
/// Requires: loops, multi-dimensional storage.
/// Establishes: the above, for the passes that make kernels.
/// Order: as soon as there are loops, so that errors come early.
Stmt check_gpu_loops(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
