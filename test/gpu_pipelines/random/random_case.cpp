// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "gpu_pipelines/random/random_case.h"

namespace calotype::test {

RandomCase::RandomCase(uint64_t seed, const std::set<int> &skipped)
    : RandomRun(wide_random_pipeline(seed)) {
    directives.skipped = skipped;
    random_gpu_schedule(p, built, seed * 31 + 7, directives, features);
}

}  // namespace calotype::test
