// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The runtime that all pipelines run in this process share.
#pragma once

#include <cstdint>
#include <string>

#include "driver/jit_handlers.h"
#include "runtime/abi/kernel_cache.h"

namespace calotype::internal {

struct JITSharedRuntime {
    /// Handlers of runs whose context and pipeline have none, and of what the runtime does outside
    /// of any run. Gives those of before.
    static JITHandlers set_default_handlers(const JITHandlers &handlers);
    /// Fills in the handlers that a context lacks: from `handlers`, then from the default ones, then
    /// those of the runtime itself, but for errors and contexts of CUDA.
    static void populate_jit_handlers(JITUserContext *context, const JITHandlers &handlers);
    /// The context of the run that this thread works for, on whichever thread that began; null
    /// outside of runs.
    static JITUserContext *current_run();
    /// The threads of parallel loops. set_num_threads gives the number of before; 0: as many as
    /// there are processors.
    static int get_num_threads();
    static int set_num_threads(int threads);
    /// The address of a function of the runtime by its name, that of Halide's included; null if
    /// there is none.
    static void *find_symbol(const Target &target, const std::string &name);
    /// What an extern name stands for in all pipelines that are compiled to run from now on, unless
    /// they have it among their own externs. A name cannot be given another address.
    static void define_symbol(const std::string &name, const void *address);
    /// Frees what the runtime keeps: memoized results, devices' contexts and memory, threads. The
    /// next run makes anew what it needs.
    static void release_all();
    /// How many bytes memoized results may take; less than there are now drops the oldest.
    static void memoization_cache_set_size(int64_t bytes);
    /// Drops the results with that eviction key.
    static void memoization_cache_evict(uint64_t eviction_key);
    /// Whether memory of devices that is freed is kept for the next allocation.
    static void reuse_device_allocations(bool reuse);
    /// Counts of the cache of device code, and its limits: as the functions of kernel_cache.h, for
    /// all contexts. `size` is set here.
    static calotype_stats kernel_cache_stats();
    static calotype_limits kernel_cache_limits();
    /// False if they were refused.
    static bool set_kernel_cache_limits(calotype_limits limits);
};

}  // namespace calotype::internal
