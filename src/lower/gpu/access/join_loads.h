// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// join_loads: replaces overlapping loads of one expression by as few accesses as possible.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// In a kernel, vectors of neighbours that overlap or follow one another are loaded once, in pieces
/// as large as their addresses allow, and put together:
///
///     g[...] = f[ramp(x - 1, 1, 4) align(4, 3)]        g[...] = let w = f[x - 1]
///            + f[ramp(x, 1, 4) align(4, 0)]                     let w$1 = f[ramp(x, 1, 4)]
///            + f[ramp(x + 1, 1, 4) align(4, 1)]   ->            let w$2 = f[x + 4]
///                                                               in concat(w, w$1)[0..3]
///                                                                + w$1 + concat(w$1, w$2)[1..4]
///
/// Nothing is read that was not. A vector alone, whose address is not a multiple of its size, is
/// cut likewise. Only of memory that more than one thread can see; a thread's own is in registers.
///
/// Only for CUDA.
///
/// Requires: flat storage, the form of lower/gpu/kernel_nest.h.
/// Establishes:    -
/// Order: after assume_alignment.
Stmt join_loads(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
