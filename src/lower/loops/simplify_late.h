// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// simplify_late: simplifies for the last time, and strips hints.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// Simplify, share common subexpressions within each statement, and drop the hints that only
/// lowering reads.
///
///     f[x] = likely(g[x*y] + g[x*y])            ->      let t0 = g[x*y]
///                                                       f[x] = t0 + t0
///
/// Requires: flat storage, no mutexes (lower_atomics).
/// Establishes: no likely, likely_if_innermost, promise_clamped or unsafe_promise_clamped.
/// Order: after the passes that leave redundancies for it to remove; those after it keep its form.
Stmt simplify_late(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
