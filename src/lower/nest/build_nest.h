// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// build_nest: the first pass, from the schedule to a loop nest.
#pragma once

#include "lower/context.h"

namespace calotype::internal {

///     g(x) = x; f(x) = g(x) + g(x + 1);  g.compute_at(f, x)   ->
///         produce f: for f.s0.x:
///           realize g:
///             produce g: for g.s0.x: g(..) = ..
///             consume g: f(..) = g(..) + g(.. + 1)
///
/// Requires: a prepared context (lower/nest/prepare.h); the incoming statement is undefined.
/// Establishes: one statement that computes all outputs. Every Func is inlined, or has a produce
///     node at its compute level and, unless it is an output, a Realize at its store level. Free:
///     names::stage_min/max of every stage and names::realized_* of every realization.
/// Order: first; everything else rewrites what it makes.
Stmt build_nest(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
