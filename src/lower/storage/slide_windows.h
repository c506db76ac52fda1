// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// slide_windows: computes in each iteration only what earlier iterations have not computed.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// Where storage outlives the iterations of a serial loop, each iteration computes only what is
/// new.
///
///     realize g {
///       for f.s0.y in [y0, y0 + n) {
///         let g.s0.y.min = f.s0.y - 1
///         let g.s0.y.max = f.s0.y + 1
///         produce g { ... }
///         consume g { ... }
///       }
///     }
///     ->  with, in place of the first let,
///         let g.s0.y.min = select(likely(y0 < f.s0.y), f.s0.y + 1, f.s0.y - 1)
///
/// Along one dimension a loop, in which the region required must move in one direction, all stages
/// being pure; the other dimensions must not depend on the loop. If the region is the same for all
/// iterations, the first one computes it. Nothing slides where the order of iterations is free,
/// where production is conditional, or where the ends of the region are longer than is looked into
/// (written_size.h). Where loops make blocks whose size does not divide what is new, some of what is
/// there is computed again, as much as whole blocks need, if that is less than all. Where something
/// is folded by a given factor, iterations before the first fill the windows instead: warm_up.h.
///
/// The condition is likely: partition_loops gives the first iteration, which fills the window, code
/// of its own, and in all others the extent of what is new is a constant wherever the window moves
/// by one.
///
/// Requires: infer_bounds: the region of each stage is defined by lets just inside of the innermost
///     loop around its production.
/// Establishes: nothing that other passes rely on.
/// Order: before bound_allocations, which measures what is touched then; the lets still have the
///     names of names::stage_min.
Stmt slide_windows(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
