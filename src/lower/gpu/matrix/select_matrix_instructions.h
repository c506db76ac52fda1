// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// select_matrix_instructions: computes products of small matrices with matrix instructions.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// A nest of Matrix loops, the threads of whose warp have a tile of results each as gpu_matrix_tile
/// deals them, becomes instructions of the warp:
///
///     gpu_thread thread_y < 8: gpu_thread thread_x < 4:
///       matrix row < 2: matrix column < 2: matrix k < 16:
///         c[2*row + column] += float32(a[row, k]) * float32(b[k, column])
///     ->
///     gpu_thread thread_y < 8: gpu_thread thread_x < 4:
///       let p = (the 8 elements of a that this thread holds)
///       let q = (the 4 elements of b)
///       let d = matrix_multiply_add(p, q, concat(c[0], c[1], c[2], c[3]))
///       c[0] = d[0] ...
///
/// Operands with neighbours along a row or column in shared memory are loaded by
/// gpu_load_matrix. On devices without such instructions the loops become unrolled and serial ones.
///
/// Requires: the form of lower/gpu/kernel_nest.h.
/// Establishes: no Matrix loops.
/// Order: after fuse_thread_loops, which numbers the threads; before the passes that look at what
///     threads share, since a thread reads what others of its warp multiply.
Stmt select_matrix_instructions(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
