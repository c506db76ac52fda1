// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hoist_storage: moves allocations out of loops, to where the schedule wants them.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// Storage inside of `hoist f` is allocated there, large enough for all iterations in between.
///
///     hoist f {
///       for y in [0, 10) {                       allocate f[int32 * 12]
///         let n = y + 3                     ->   for y in [0, 10) {
///         allocate f[int32 * n] { ... }            let n = y + 3
///       }                                          ...
///     }                                          }
///
/// Copies of a ring buffer are as far from each other as the largest needs.
///
/// Requires: flat storage. Extents have bounds outside of the loops in between (CompileError else).
/// Establishes: no HoistedStorage.
/// Order: after look_up_memoized, since a cache allocates what it keeps; before all passes that ask
///     where storage is.
Stmt hoist_storage(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
