// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Indices into storage on the stack that are constants once lets are expanded. Helper of
// bound_small_allocations.
#pragma once

#include "ir/stmt_nodes.h"

namespace calotype::internal {

/// Where a tile and what is stored for it are shifted inwards alike, an element's place in storage
/// is a difference of minima that are written in different forms. Storage whose indices all are
/// constants can be kept in registers:
///
///     let first = min(a + 7, b)                    let first = min(a + 7, b)
///     allocate g[int32, 8] in stack                allocate g[int32, 8] in stack
///     g[ramp(0, 1, 8)] = ...                  ->   g[ramp(0, 1, 8)] = ...
///     f[ramp(a, 1, 8)] =                           f[ramp(a, 1, 8)] =
///         g[ramp(min(b - 7, a) - first + 7, 1, 8)]     g[ramp(0, 1, 8)]
Stmt make_indices_constant(const Stmt &s);

}  // namespace calotype::internal
