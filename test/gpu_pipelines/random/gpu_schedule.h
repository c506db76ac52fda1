// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A random GPU schedule for a wide RandomPipeline: every stage mapped to a kernel or into one.
#pragma once

#include "gpu_pipelines/random/stage_loops.h"

namespace calotype::test {

/// Schedule the Funcs of `built`; what was drawn is added to `features`. Not every schedule drawn
/// is legal: CompileErrors are for the caller to catch.
void random_gpu_schedule(const RandomPipeline &p, BuiltPipeline &built, uint64_t seed,
                         Directives &directives, Features &features);

}  // namespace calotype::test
