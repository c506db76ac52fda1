// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// relate_lets: rewrites lets that differ by a constant from another let in terms of that one.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// Lets whose values, with all other lets in them, differ by a constant from those of a let around
/// them are written in terms of that; so are extents of loops and of storage that turn out to be
/// constant. Regions are put together from lets that are near relatives, which is not seen where
/// each has a value of its own.
///
///     let g.s0.x.min = min(f.s0.xo * 16, 248) + a
///     let g.s0.x.max = a + min(f.s0.xo * 16, 248) + 2
///     for g.s0.x in [g.s0.x.min, g.s0.x.max - g.s0.x.min + 1) { ... }
///     ->
///     let g.s0.x.min = min(f.s0.xo * 16, 248) + a
///     for g.s0.x in [g.s0.x.min, 3) { ... }
///
/// In kernels lets keep their values, by which the sizes of storage are bounded; constants are put
/// in place there, too, and clamps that never do anything go.
///
/// Requires: flat storage.
/// Establishes: simplified.
/// Order: after simplify_early; before unroll_loops and vectorize_loops, which need constant
///     extents, and which make copies and vectors of the lets.
Stmt relate_lets(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
