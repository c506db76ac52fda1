// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// drop_unread_storage: removes storage that nothing reads, and what is stored there.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// Where the simplifier has found a value that reads it to be a constant:
///
///     allocate f[int32, 64]
///     for x in [0, 64) { f[x] = in[x] }   ->   for x in [0, 64) { g[x] = 0 }
///     for x in [0, 64) { g[x] = 0 }
///
/// Until nothing more goes: what was stored may have been all that others were read for. What is stored with an effect,
/// as by an extern function, stays. Copies between host and device, and the memory of either, go with what nothing reads.
///
/// Requires: flat storage, simplified.
/// Establishes: nothing that other passes rely on.
/// Order: after simplify_early; skip_stages has left out what conditions of the algorithm make unnecessary.
Stmt drop_unread_storage(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
