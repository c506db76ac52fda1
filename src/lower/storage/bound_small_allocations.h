// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bound_small_allocations: gives storage of small bounded size a constant size, on the stack.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// Storage whose size has a small constant bound gets that size.
///
///     let n = min(w, 6)                                 let n = min(w, 6)
///     allocate f[float32, n, 4]                  ->     allocate f[float32, 6, 4] in stack
///
/// Indices into storage on the stack that are constants with all lets in them become so
/// (constant_indices.h).
///
/// What is asked for on the stack, or in registers, of the host and takes more than 256 KB goes to
/// the heap: the stack of a thread could not hold it.
///
/// Storage in MemoryType::Register must have a bound, and no storage may be known to be larger than
/// the target allows (CompileError else).
///
/// Requires: flat storage.
/// Establishes: allocations of MemoryType::Auto that are left are for the heap, unless their size
///     is constant.
/// Order: after unrolled and vectorized loops are gone; before partition_loops, whose steady states
///     lack the clamps by which sizes are bounded, and before inject_early_frees, which only looks
///     at the heap.
Stmt bound_small_allocations(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
