// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A random pipeline under a random GPU schedule, with its inputs and what it is to give.
#pragma once

#include "gpu_pipelines/random/gpu_schedule.h"
#include "pipelines/random/random_run.h"

namespace calotype::test {

struct RandomCase : RandomRun {
    /// Directives of such numbers are left out.
    explicit RandomCase(uint64_t seed, const std::set<int> &skipped = {},
                        bool keeps_places = false);

    Features features;
};

}  // namespace calotype::test
