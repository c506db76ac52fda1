// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prefetches that a shutdown or the end of the process finds at work: they end with the modules
// that they have begun with.
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <future>
#include <thread>

#include "harness/fake_backend/fake_backend.h"
#include "harness/on_context.h"
#include "harness/processes.h"
#include "runtime/cache/fake_backend_driver.h"

namespace calotype_test {

class PrefetchEnds : public Scenario {
protected:
    /// Compiles while it is open.
    struct Gate {
        std::promise<void> begun, opened;
        std::shared_future<void> is_open = opened.get_future().share();
        std::atomic<int> compiles{0};

        static calotype_status compile(void *self, const calotype_module_desc *, uint32_t, char,
                                       void **image, size_t *size, char **) {
            Gate &gate = *static_cast<Gate *>(self);
            if (gate.compiles++ == 0) {
                gate.begun.set_value();
            }
            gate.is_open.wait();
            *image = strdup("kernel k0");
            *size = 9;
            return CALOTYPE_OK;
        }
    };
    Gate gate;
    void *context = nullptr;
    std::vector<const calotype_module_desc *> all;

    void SetUp() override {
        Scenario::SetUp();
        context = driver->make_context();
        const calotype_limits one = {sizeof one, CALOTYPE_POLICY_LRU, 0, 0, 0, 1};
        EXPECT_EQ(CALOTYPE_OK, calotype_set_limits(&one));
        EXPECT_EQ(CALOTYPE_OK, calotype_set_compile_hook(Gate::compile, &gate, "gate"));
        for (int i = 0; i < 6; i++) {
            all.push_back(module("m" + std::to_string(i)));
        }
    }
    void TearDown() override {
        EXPECT_EQ(CALOTYPE_OK, calotype_set_compile_hook(nullptr, nullptr, nullptr));
        Scenario::TearDown();
    }
    /// On one thread, which is at the first.
    void begin(void **ticket) {
        EXPECT_EQ(CALOTYPE_OK, calotype_prefetch(on(context), all.data(), 6, 0, ticket));
        gate.begun.get_future().wait();
        calls++;
    }
};

TEST_P(PrefetchEnds, AShutdownKeepsItsDeadline) {
    begin(nullptr);
    EXPECT_EQ(CALOTYPE_E_TIMEOUT, calotype_shutdown(20));
    EXPECT_EQ(1, gate.compiles);
    gate.opened.set_value();
    EXPECT_EQ(CALOTYPE_OK, calotype_shutdown(10000));
    EXPECT_EQ(1, gate.compiles) << "the others are not loaded any more";
    EXPECT_EQ("1 1 0 0 1", counts());
}

TEST_P(PrefetchEnds, WhoHasTheTicketIsTold) {
    void *ticket = nullptr;
    begin(&ticket);
    EXPECT_EQ(CALOTYPE_E_TIMEOUT, calotype_shutdown(20));
    gate.opened.set_value();
    EXPECT_EQ(CALOTYPE_E_CLOSING, calotype_prefetch_wait(ticket, 10000));
    EXPECT_STREQ("5 of 6 modules were not loaded: the cache was shut down",
                 calotype_last_error()->log);
    EXPECT_EQ(1, gate.compiles);
    // The next one is as any.
    EXPECT_EQ(CALOTYPE_OK, calotype_prefetch(on(context), all.data(), 6, 0, &ticket));
    calls += 6;
    EXPECT_EQ(CALOTYPE_OK, calotype_prefetch_wait(ticket, 10000));
    EXPECT_EQ(6u, stats().live_modules);
}

TEST_P(PrefetchEnds, OneProcess) {
    if (!is_process_of_test()) {
        GTEST_SKIP() << "started by the test below in a process of its own";
    }
    static Gate *const at_work = &gate;
    // After the runtime's own handler, which is installed with the first load.
    std::atexit([] { process_report() << at_work->compiles; });
    begin(nullptr);
    std::thread([] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        at_work->opened.set_value();
    }).detach();
    std::exit(0);
}

TEST_P(PrefetchEnds, AnExitLoadsNoMore) {
    Processes processes;
    EXPECT_EQ("1", processes.run("FakeBackend/PrefetchEnds.OneProcess/0"));
}

INSTANTIATE_TEST_SUITE_P(FakeBackend, PrefetchEnds, ::testing::Values(make_fake_backend_driver));

}  // namespace calotype_test
