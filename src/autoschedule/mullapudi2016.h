// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The autoscheduler Mullapudi2016, after R. T. Mullapudi, A. Adams, D. Sharlet, J. Ragan-Kelley and
// K. Fatahalian, "Automatically scheduling Halide image processing pipelines" (SIGGRAPH 2016).
#pragma once

#include "lang/pipeline.h"

namespace calotype::internal {

inline const char *const mullapudi2016_name = "Mullapudi2016";

/// Writes the schedule of all Funcs. Outputs must have estimates, and parameters on which sizes
/// depend; no Func may have a schedule. See docs/autoscheduling.md.
void schedule_by_mullapudi2016(const Pipeline &pipeline, const Target &target,
                               const AutoschedulerParams &params, AutoSchedulerResults *results);

}  // namespace calotype::internal
