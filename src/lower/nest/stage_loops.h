// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loop nest of one stage, from its definition and schedule.
#pragma once

#include <optional>

#include "lower/context.h"

namespace calotype::internal {

/// The loops of stage `stage` of f around its Provide, specializations included:
///
///     f(x) = x * 2;  f.split(x, xo, xi, 8, TailStrategy::GuardWithIf)   ->
///         let f.s0.x.loop_min = f.s0.x.min ...
///         for f.s0.xo: for f.s0.xi:
///           let f.s0.x = f.s0.xo * 8 + f.s0.xi + f.s0.x.loop_min
///           if ...: f(f.s0.x) = f.s0.x * 2
///
/// Free Variables of the result: names::stage_min/max of the pure variables, and parameters. Adds
/// its loops to ctx.loops.
Stmt make_stage_loops(const Function &f, int stage, LowerContext &ctx);

/// Whether a stage with that schedule has loops of a GPU.
bool has_gpu_loops(const StageSchedule &schedule);

/// The stage that this one shares its outer loops with (compute_with), if any.
std::optional<StageKey> fused_with(const Definition &def);

/// The loops of all stages of Funcs that are computed together. A stage that is computed with
/// another runs inside of that one's outer loops, which then cover what both need:
///
///     f.compute_with(g, y)   ->
///         for g.s0.y over both:
///           if (y is g's) for g.s0.x: g(..) = ..
///           if (y is f's) for f.s0.x: f(..) = ..
Stmt make_group_loops(const std::vector<std::string> &group, LowerContext &ctx);

/// The definition's expressions with its variables named as loops of the stage ("x" -> "f.s0.x").
Expr qualify(const Expr &e, const Function &f, int stage);

/// A pure variable of a stage, and the dimension it indexes.
struct PureVar {
    int dimension;
    std::string name;
};
/// The pure variables that a stage loops over: all of the pure definition; of an update those left
/// in place on the left.
std::vector<PureVar> pure_vars(const Function &f, int stage);

}  // namespace calotype::internal
