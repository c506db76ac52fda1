// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Statistics: pipelines that this process has compiled, and those found in the cache.
#pragma once

#include <cstdint>

namespace calotype::internal {

struct CompileCounts {
    int64_t lowered = 0;        ///< front halves that ran
    int64_t lowered_found = 0;  ///< front halves found
    int64_t jit_compiled = 0;
    int64_t jit_found = 0;
    int64_t objects_found_on_disk = 0;  ///< of those compiled: not even lowered
};

/// The counts so far of all that was compiled to run in this process.
CompileCounts compile_counts();

}  // namespace calotype::internal
