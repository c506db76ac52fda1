// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A random schedule for the Funcs of a ReductionProgram.
#pragma once

#include "pipelines/random/random_schedule.h"
#include "reduction_funcs.h"

namespace calotype::test {

/// Schedule all stages, the output first. What cannot be kept together with the rest is seen when it is compiled.
void schedule_reductions(const ReductionProgram &p, ReductionFuncs &funcs, uint64_t seed,
                         Directives &directives);

}  // namespace calotype::test
