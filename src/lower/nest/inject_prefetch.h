// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// inject_prefetch: finds the regions of prefetches, which are those that later iterations need.
#pragma once

#include "lower/context.h"

namespace calotype::internal {

/// What `prefetch(g, at, from, offset)` asks for: in each iteration of loop `at`, the region of g
/// (a Func or an image) that the loop's body will read when loop `from` is `offset` iterations
/// further.
///
///     for f.s0.y {
///       let g.s0.x.min = ...
///       prefetch im() at f.s0.y from f.s0.y offset 2 { ... im(x, f.s0.y) ... }
///     }
///     ->
///     for f.s0.y {
///       prefetch im([f.s0.x.min, ...], [f.s0.y + 2, 1]) at f.s0.y from f.s0.y offset 2 {
///         let g.s0.x.min = ...
///         ... im(x, f.s0.y) ...
///       }
///     }
///
/// Requires:    build_nest, which puts prefetches without a region into the loops of the definition
///     that asks for them; infer_bounds: the code inside of a loop says which region it reads.
/// Establishes: each Prefetch has its region, and is all of its loop's body. lower_prefetches turns
///     it into loops over cache lines.
/// Order:       after infer_bounds; before regions shrink (slide_windows).
Stmt inject_prefetch(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
