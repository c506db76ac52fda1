// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Groups as schedules: of loops on the processor, and of kernels.
#pragma once

#include <vector>

#include "autoschedule/group.h"
#include "autoschedule/schedule_text.h"

namespace calotype::internal {

void write_schedule(const Model &model, const std::vector<Group> &groups, const Machine &machine,
                    ScheduleText &text);

/// The loops of a stage that a schedule is about, by what they are.
struct StageLoops {
    std::vector<int> dimensions;   ///< of the Func that are loops here, innermost in memory first
    std::vector<VarOrRVar> rvars;  ///< innermost first
    bool scatters = false;         ///< what is stored depends on the RVars
};
StageLoops loops_of(const FuncModel &func, int stage);

/// A loop that a split makes of a dimension; stages have names of their own, so that places are plain.
Var made_of(const std::string &dimension, const char *part, int stage);

/// The stages of the host, and the members in its tiles.
void write_gpu_group(const Model &model, const Group &group, ScheduleText &text);

}  // namespace calotype::internal
