// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// As a library of generated code: a kernel on the fake CUDA driver and a parallel loop.
#include "plugin.h"

#include <atomic>

#include "harness/nothing_module.h"
#include "runtime/runtime.h"

extern "C" __attribute__((visibility("default"))) void plugin_use(PluginUse *use) {
    const calotype_test::NothingModule module;
    calotype_hold hold = {};
    use->status = calotype_initialize_kernels(nullptr, &module.desc, nullptr, &hold);
    if (use->status == CALOTYPE_OK) {
        calotype_finalize_kernels(nullptr, &hold);
    }
    std::atomic<int> sum{0};
    const auto add = [](void *, int i, uint8_t *closure) {
        *reinterpret_cast<std::atomic<int> *>(closure) += i;
        return 0;
    };
    calotype_do_par_for(nullptr, add, 0, 100, reinterpret_cast<uint8_t *>(&sum));
    use->sum = sum;
    calotype_stats stats = {};
    stats.size = sizeof stats;
    calotype_get_stats(0, &stats);
    use->misses = stats.misses;
    use->hits = stats.hits;
}
