// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// accumulate_atomics: a loop that updates one element atomically does so once, after it.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// What the iterations of a serial loop combine into one element that other threads update, too, is combined first:
///
///     for r in [0, n) {                                 allocate f.own[float32, 1] in stack
///       atomic f { f[x] = f[x] + g[r] }         ->      f.own[0] = 0
///     }                                                 for r in [0, n) { f.own[0] = f.own[0] + g[r] }
///                                                       if 0 < n { atomic f { f[x] = f[x] + f.own[0] } }
///
/// Atomic updates have no order, so floats are combined in another one, too. Where an iteration may do nothing, whether
/// one did something is kept beside. The loop must touch the buffer in no other way, and where it does must be known
/// outside of the loop.
///
/// Requires: each Atomic is around one store that several threads can meet (lower_atomics).
/// Establishes: nothing that other passes rely on.
/// Order: before partition_loops, so that the parts of a loop share what is combined.
Stmt accumulate_atomics(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
