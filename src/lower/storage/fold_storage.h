// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fold_storage: makes storage circular where only a window of it is live.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// Storage of which each iteration of a loop touches only a small window, that moves in one
/// direction, holds just the window.
///
///     realize g([y0, h]) {
///       for f.s0.y in ... {
///         g(f.s0.y + 1) = ...
///         f(f.s0.y) = g(f.s0.y - 1) + g(f.s0.y + 1)
///       }
///     }
///     ->
///     realize g([0, 4]) {
///       for f.s0.y in ... {
///         g((f.s0.y + 1) % 4) = ...
///         f(f.s0.y) = g((f.s0.y - 1) % 4) + g((f.s0.y + 1) % 4)
///       }
///     }
///
/// Other dimensions are folded as well, along loops inside of that one, unless the Func is async.
/// Of branches that all produce and use the Func, as those of specializations, each has such a loop.
///
/// By default the pass folds where the window's extent has a constant bound, to a power of two, and
/// not in dimensions in which vectors lie: those that wrap around would be gathered lane by lane.
/// Where the schedule says fold_storage(y, factor), the factor is taken; what cannot be proven
/// about it (the extent, the direction) is checked at run time (fold_factor_too_small, bad_fold).
/// Without a loop to fold along, as after compute_root, that is a warning, and all is stored.
///
/// Requires: Func-level storage; slide_windows and bound_allocations are done; names are unique.
/// Establishes: nothing that other passes rely on.
/// Order: after slide_windows, without which nothing outlives an iteration; while coordinates are
///     still there.
Stmt fold_storage(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
