// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counters of the kernel cache, of each context and of the process.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/abi/kernel_cache.h"

namespace calotype::runtime {

/** A field of calotype_stats, from `misses` on. */
using Counter = uint64_t calotype_stats::*;
constexpr uint32_t n_counters =
    (sizeof(calotype_stats) - offsetof(calotype_stats, misses)) / sizeof(uint64_t);
inline uint32_t index_of(Counter counter) {
    static constexpr calotype_stats stats = {};
    return uint32_t(&(stats.*counter) - &stats.misses);
}

/** Add to a context's counter and to the process's; the context alone may be 0, that of no one. */
void count(uint64_t context_uid, Counter counter, uint64_t n = 1);

}  // namespace calotype::runtime
