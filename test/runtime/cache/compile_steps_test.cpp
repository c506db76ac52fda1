// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code of applications that runs in a compile step, while the limit of steps at once is reached.
#include <cstring>
#include <thread>

#include "harness/fake_backend/fake_backend.h"
#include "harness/on_context.h"
#include "runtime/cache/fake_backend_driver.h"

namespace calotype_test {

class CompileSteps : public Scenario {};

/// No more at once than the limit says, and as many.
TEST_P(CompileSteps, AreLimited) {
    void *context = driver->make_context();
    std::vector<const calotype_module_desc *> all;
    for (int i = 0; i < 12; i++) {
        all.push_back(module("m" + std::to_string(i)));
    }
    driver->delay_builds(10);
    for (uint32_t limit : {1u, 2u}) {
        const calotype_limits limits = {sizeof limits, CALOTYPE_POLICY_LRU, 0, 0, 0, limit};
        EXPECT_EQ(CALOTYPE_OK, calotype_set_limits(&limits));
        fake_builds_at_once();
        in_threads(6, [&](int i) { run(context, all[(limit - 1) * 6 + size_t(i)]); });
        EXPECT_EQ(int(limit), fake_builds_at_once());
    }
    driver->delay_builds(0);
    EXPECT_EQ("12 12 0 0 0", counts());
}

INSTANTIATE_TEST_SUITE_P(FakeBackend, CompileSteps, ::testing::Values(make_fake_backend_driver));

/// One thread may compile at a time, and hooks are not counted: the hook of X waits, in its own
/// ways, for threads that compile.
class HooksAreNotCounted : public Scenario {
protected:
    static calotype_status give_image(void **image, size_t *size) {
        *image = strdup("kernel k0");
        *size = 9;
        return CALOTYPE_OK;
    }
    /// `wait` is called by the hook of X alone.
    template<typename Wait>
    void compile(Wait wait) {
        static Wait *wait_in_hook;
        wait_in_hook = &wait;
        context = driver->make_context();
        const calotype_limits one = {sizeof one, CALOTYPE_POLICY_LRU, 0, 0, 0, 1};
        EXPECT_EQ(CALOTYPE_OK, calotype_set_limits(&one));
        const calotype_compile_fn hook = [](void *, const calotype_module_desc *desc, uint32_t,
                                            char, void **image, size_t *size, char **) {
            if (strcmp(desc->name, "X") == 0) {
                (*wait_in_hook)();
            }
            return give_image(image, size);
        };
        EXPECT_EQ(CALOTYPE_OK, calotype_set_compile_hook(hook, nullptr, "not counted"));
        run(context, x);
        EXPECT_EQ(CALOTYPE_OK, calotype_set_compile_hook(nullptr, nullptr, nullptr));
    }

    void *context = nullptr;
    const calotype_module_desc *x = nullptr, *y = nullptr;
    void SetUp() override {
        Scenario::SetUp();
        x = module("X");
        y = module("Y");
    }
};

TEST_P(HooksAreNotCounted, AThreadThatTheHookJoins) {
    compile([&] { std::thread([&] { run(context, y); }).join(); });
    EXPECT_EQ("2 2 0 0 0", counts());
}

/// The built-in step of another thread has its turn meanwhile.
TEST_P(HooksAreNotCounted, AThreadThatCompilesWithoutAHook) {
    compile([&] {
        EXPECT_EQ(CALOTYPE_OK, calotype_set_compile_hook(nullptr, nullptr, nullptr));
        std::thread([&] { run(context, y); }).join();
    });
    EXPECT_EQ("2 2 0 0 0", counts());
    EXPECT_EQ(1u, fake_backend_calls().count("build"));
}

/// Of two threads one waits for the image that the other's hook makes.
TEST_P(HooksAreNotCounted, AThreadThatWaitsForAnother) {
    compile([&] {
        std::thread other([&] { run(context, y); });
        run(context, y);
        other.join();
    });
    EXPECT_EQ(1u, stats().waits + stats().hits);
    EXPECT_EQ("2 2 0 0 0", counts());
}

TEST_P(HooksAreNotCounted, APrefetch) {
    compile([&] {
        void *ticket = nullptr;
        EXPECT_EQ(CALOTYPE_OK, calotype_prefetch(on(context), &y, 1, 0, &ticket));
        EXPECT_EQ(CALOTYPE_OK, calotype_prefetch_wait(ticket, 10000));
    });
    calls++;  // the prefetch's
    EXPECT_EQ("2 2 0 0 0", counts());
}

/// What is told of a step may compile too: the step is over.
TEST_P(HooksAreNotCounted, ATraceThatJoinsAThread) {
    static std::function<void()> told;
    context = driver->make_context();
    const calotype_limits one = {sizeof one, CALOTYPE_POLICY_LRU, 0, 0, 0, 1};
    EXPECT_EQ(CALOTYPE_OK, calotype_set_limits(&one));
    told = [&] {
        calotype_set_trace(nullptr, nullptr);
        std::thread([&] { run(context, y); }).join();
    };
    calotype_set_trace([](void *, const calotype_trace_event *) { told(); }, nullptr);
    run(context, x);
    EXPECT_EQ("2 2 0 0 0", counts());
}

INSTANTIATE_TEST_SUITE_P(FakeBackend, HooksAreNotCounted,
                         ::testing::Values(make_fake_backend_driver));

}  // namespace calotype_test
