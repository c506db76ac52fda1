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

}  // namespace calotype::internal
