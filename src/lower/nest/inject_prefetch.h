// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// inject_prefetch: adds prefetches of the regions that later iterations need.
#pragma once

#include "lower/context.h"

namespace calotype {

/// What `prefetch(g, at, from, offset)` asks for: in each iteration of loop `at`, the region of g
/// (a Func or an image) that the loop's body will read when loop `from` is `offset` iterations
/// further.
///
///     f.prefetch(im, y, y, 2)
///     for f.s0.y { ... im(x, f.s0.y) ... }
///     ->
///     for f.s0.y {
///       prefetch im([f.s0.x.min, ...], [f.s0.y + 2, 1])
///       ... im(x, f.s0.y) ...
///     }
///
/// Requires:    infer_bounds: the code inside of a loop says which region it reads.
/// Establishes: Prefetch nodes, which lower_prefetches turns into loops over cache lines.
/// Order:       after infer_bounds; before regions shrink (slide_windows).
Stmt inject_prefetch(const Stmt &s, LowerContext &ctx);

}  // namespace calotype
