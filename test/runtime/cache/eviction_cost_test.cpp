// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What it costs to unload many modules at once: one barrier for all of them. The linker puts a
// function of this file in front of the system's (option --wrap).
#include <atomic>
#include <cstdarg>

#include <sys/syscall.h>

#include "harness/fake_backend/fake_backend.h"
#include "harness/on_context.h"
#include "runtime/cache/fake_backend_driver.h"

static std::atomic<int> barriers{0};

extern "C" {
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...) {
    barriers += number == SYS_membarrier;
    va_list list;
    va_start(list, number);
    long a[6];
    for (long &argument : a) {
        argument = va_arg(list, long);
    }
    va_end(list);
    return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
}

namespace calotype_test {

class EvictionCost : public Scenario {
protected:
    void *context = nullptr;

    void load(int n) {
        context = driver->make_context();
        for (int i = 0; i < n; i++) {
            run(context, module(std::to_string(i)));
        }
    }
};

TEST_P(EvictionCost, OfATrim) {
    load(200);
    barriers = 0;
    EXPECT_EQ(CALOTYPE_OK, calotype_trim(on(context), 0, nullptr));
    EXPECT_LE(barriers, 4);
    EXPECT_EQ("200 200 0 0 200", counts());
}

TEST_P(EvictionCost, OfALimit) {
    load(200);
    calotype_hold held = hold(context, &modules[3]->desc);
    barriers = 0;
    const calotype_limits limits = {sizeof limits, CALOTYPE_POLICY_LRU, 0, 20, 0, 0};
    EXPECT_EQ(CALOTYPE_OK, calotype_set_limits(&limits));
    EXPECT_EQ("200 200 0 0 0", counts()) << "no context was named";
    run(context, &modules[199]->desc);
    EXPECT_LE(barriers, 4);
    EXPECT_EQ("200 200 0 0 180", counts());
    give_back(context, held);
    for (int i = 181; i < 200; i++) {
        run(context, &modules[size_t(i)]->desc);
    }
    EXPECT_EQ("200 200 0 0 180", counts()) << "those stay that were used last";
}

TEST_P(EvictionCost, OfStatisticsIsNoBarrier) {
    load(200);
    barriers = 0;
    calotype_stats stats = {};
    stats.size = sizeof stats;
    EXPECT_EQ(CALOTYPE_OK, calotype_get_stats(0, &stats));
    EXPECT_EQ(200u, stats.live_modules);
    uint64_t hits = 0;
    const auto add_hits = [](void *sum, const calotype_module_info *module) {
        *static_cast<uint64_t *>(sum) += module->hits;
    };
    EXPECT_EQ(CALOTYPE_OK, calotype_enumerate_modules(0, add_hits, &hits));
    EXPECT_EQ(stats.hits, hits);
    EXPECT_EQ(0, barriers);
}

INSTANTIATE_TEST_SUITE_P(FakeBackend, EvictionCost, ::testing::Values(make_fake_backend_driver));

}  // namespace calotype_test
