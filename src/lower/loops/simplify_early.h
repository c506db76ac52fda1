// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// simplify_early: simplifies flat statements, before loops are unrolled, vectorized and split.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// Simplify everything: lets of shapes reach the indices, constant extents show.
///
///     let f.stride.1 = 8*1                              f[x + 8*y] = ...
///     f[(x - 0)*1 + (y - 0)*f.stride.1] = ...   ->
///
/// Unless the target says strict_float, floats are taken to be finite: x * 0.0 is 0.
///
/// Requires: flat storage.
/// Establishes: loop extents that are constant are constants.
/// Order: before unroll_loops and vectorize_loops, which need constant extents and work on less
///     after it.
Stmt simplify_early(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
