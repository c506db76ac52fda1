// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// inject_early_frees: frees heap storage after its last use.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// A Free after the last statement that uses the storage, so that what comes later can reuse the
/// memory.
///
///     allocate a[...]                                   allocate a[...]
///     a[0] = 1                                          a[0] = 1
///     allocate b[...]                            ->     allocate b[...]
///     b[0] = a[0]                                       b[0] = a[0]
///     c[0] = b[0]                                       free a
///                                                       c[0] = b[0]
///
/// Storage on the stack of a size that is constant, and storage whose address goes to something else (a buffer header), lives
/// to the end of its scope.
///
/// Requires: flat storage.
/// Establishes: nothing that other passes rely on.
/// Order: after bound_small_allocations and all passes that move loads.
Stmt inject_early_frees(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
