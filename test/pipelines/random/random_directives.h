// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Directives that are drawn beside those of random_schedule.h, with dice of their own: which others a seed has does not
// depend on them.
#pragma once

#include <string>
#include <vector>

#include "random_schedule.h"

namespace calotype::test {

/// Innermost first.
struct ScheduledLoop {
    VarOrRVar var;
    bool impure = false;  ///< an RVar whose order must be kept
    bool marked = false;  ///< vectorized, unrolled or parallel already
};

struct ScheduledStage {
    Stage stage;
    std::string text;
    Expr condition;  ///< that may hold and may not
    bool is_reduction = false;
};

/// Partitions, new names, fused RVars, specializations that have loops of their own.
void draw_stage_directives(Dice dice, Directives &directives, const ScheduledStage &stage,
                           std::vector<ScheduledLoop> &loops);
/// How and where the Func's memory lies, its bounds, events, wrappers. `width`: of outputs, else 0.
void draw_func_directives(Dice dice, Directives &directives, Func f, const std::string &name,
                          int width);

}  // namespace calotype::test
