// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counters of the kernel cache, of each context and of the process.
#pragma once

#include <atomic>
#include <stdint.h>

#include "runtime/abi/kernel_cache.h"

namespace calotype {
namespace runtime {

/** In the order of calotype_stats from `misses` on. */
enum class Counter : uint32_t {
    misses,
    hits,
    waits,
    negative_hits,
    compiles,
    links,
    loads,
    unloads,
    setups,
    setups_ok,
    teardowns,
    teardown_errors,
    evictions,
    over_limit,
    oom_retries,
    lto_missed,
    disk_hits,
    disk_misses,
    disk_writes,
    disk_corrupt,
    disk_evictions,
    failures,
    orphans,
    misuse,
    live_modules,
    live_bytes,
    image_bytes,
    holds,
    compile_ns,
    link_ns,
    load_ns,
    setup_ns,
    wait_ns,
    graphs,
    graph_launches,
    graph_updates,
    count
};
constexpr uint32_t n_counters = uint32_t(Counter::count);

/** Add to a context's counter and to the process's; the context alone may be 0, that of no one. */
void count(uint64_t context_uid, Counter counter, uint64_t n = 1);

}  // namespace runtime
}  // namespace calotype
