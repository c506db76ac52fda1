// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// join_stores: makes one access of stores that follow one another in memory.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// In a kernel, stores of neighbours that come one after the other, as an unrolled loop over interleaved channels makes
/// them, become one store of a vector where that is one access of memory:
///
///     let t = y*4 + 1                       let t = y*4 + 1
///     f[x*2 align(2, 0)] = a          ->    let t$1 = y*4 + 2
///     let t$1 = y*4 + 2                     f[ramp(x*2, 1, 2) align(2, 0)] = concat(a, b*t$1)
///     f[x*2 + 1 align(2, 1)] = b*t$1
///
/// As many as an access of 16 bytes holds, a power of two. What is stored is computed first, so none of the values may
/// read the buffer or have an effect. The compiler behind this one joins stores as well, but not those that it has moved
/// behind the branches of a kernel's interior and its border.
///
/// Not of a thread's own storage, which is in registers. Only for CUDA.
///
/// Requires: flat storage, the form of lower/gpu/kernel_nest.h.
/// Establishes:    -
/// Order: after align_accesses.
Stmt join_stores(const Stmt &s, LowerContext &ctx);

/// A kernel with all such stores joined, also those of which nothing is known yet; but none that are known to begin at
/// no multiple of the vector. For assume_alignment, which asks what they need.
Stmt join_all_stores(const For *kernel, const LowerContext &ctx);

}  // namespace calotype::internal
