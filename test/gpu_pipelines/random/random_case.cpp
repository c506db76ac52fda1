// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "gpu_pipelines/random/random_case.h"

namespace calotype::test {

RandomCase::RandomCase(uint64_t seed, const std::set<int> &skipped, bool keeps_places)
    : RandomRun(seed % 2 == 0 ? wide_random_pipeline(seed) : full_random_pipeline(seed)) {
    directives.skipped = skipped;
    directives.keeps_places = keeps_places;
    GpuProgram program = gpu_program(p, built);
    features = random_gpu_schedule(program, seed * 31 + 7, directives);
}

}  // namespace calotype::test
