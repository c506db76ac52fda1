// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// infer_bounds: finds the region of each stage that is required at each point of the nest.
#pragma once

#include "lower/context.h"

namespace calotype::internal {

///     f(x) = g(x) + g(x + 1);  g.compute_at(f, x)   ->
///         for f.s0.x:
///           let g.s0.x.max = f.s0.x.max + 1
///           let g.s0.x.min = f.s0.x.min
///           realize g: ...
///
/// Requires: the nest of build_nest; ctx.func_bounds.
/// Establishes: names::stage_min/max of every stage are defined by LetStmts wherever they are used:
///     at the top from the outputs' buffers, in each loop from what one iteration of it needs.
/// Order: when the nest is complete, before anything moves or reshapes loops.
Stmt infer_bounds(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
