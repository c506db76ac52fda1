// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tags min, max and select that decide the same way as one that is tagged likely. Helper of partition_loops.
#pragma once

#include "ir/stmt_nodes.h"

namespace calotype::internal {

/// Bounds carry no tags. So what one stage computes at min(likely(a), b) another needs at
/// min(a, b), perhaps moved by a constant; both are decided by a - b:
///
///     let x = min(t*8, w - 8)                      let x = min(likely_if_innermost(t*8), w - 8)
///     g[x] = ...                              ->   g[x] = ...
///     f[min(likely_if_innermost(t*8), w - 8)]      f[min(likely_if_innermost(t*8), w - 8)]
///         = g[x]                                       = g[x]
Stmt propagate_likely(const Stmt &s);

/// The same of what guards say. The last vector of a stage is under one, and regions of stages inside of its loop
/// end where it does, without saying so:
///
///     let m = min(x*8 + 7, n)                      let m = min(likely(x*8 + 7), n)
///     for t in [0, m/8 - x + 1) { ... }       ->   for t in [0, m/8 - x + 1) { ... }
///     if likely(x*8 + 7 <= n) { ... }              if likely(x*8 + 7 <= n) { ... }
Stmt propagate_guards(const Stmt &s);

}  // namespace calotype::internal
