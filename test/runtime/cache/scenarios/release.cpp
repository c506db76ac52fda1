// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contexts that are released, lost, and replaced: S20 to S25.
#include <chrono>
#include <thread>

#include "harness/on_context.h"
#include "runtime/cache/scenario_fixture.h"

namespace calotype_test {

static void sleep_ms(int ms) {
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

// G4.
TEST_P(Scenario, S20_ReleaseRefused) {
    const TestLinkable a("a");
    void *context = driver->make_context();
    const auto *A = module("A", {&a}), *B = module("B", {&a});
    calotype_hold held = hold(context, A);
    run(context, B);
    EXPECT_EQ(CALOTYPE_E_BUSY, calotype_release_context(on(context), CALOTYPE_REL_BUSY, 0));
    EXPECT_EQ("2 2 2 0 0", counts());
    run(context, A);
    run(context, B);
    EXPECT_EQ("2 2 2 0 0", counts());
    give_back(context, held);
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(on(context), CALOTYPE_REL_BUSY, 0));
    EXPECT_EQ("2 2 2 2 2", counts());
}

TEST_P(Scenario, S21_ReleaseWaits) {
    const TestLinkable a("a");
    void *context = driver->make_context();
    calotype_hold held = hold(context, module("m", {&a}));
    EXPECT_EQ(CALOTYPE_E_TIMEOUT, calotype_release_context(on(context), CALOTYPE_REL_WAIT, 30));
    EXPECT_EQ("1 1 1 0 0", counts());
    std::thread finalizer([&] {
        sleep_ms(40);
        give_back(context, held);
    });
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(on(context), CALOTYPE_REL_WAIT, 5000));
    finalizer.join();
    EXPECT_EQ("1 1 1 1 1", counts());
}

// G1.
TEST_P(Scenario, S22_ReleaseByForce) {
    const TestLinkable a("a");
    void *context = driver->make_context();
    const auto *m = module("m", {&a});
    calotype_hold held = hold(context, m);
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(on(context), CALOTYPE_REL_FORCE, 0));
    EXPECT_EQ("1 1 1 1 1", counts());
    const uint32_t one[3] = {1, 1, 1};
    EXPECT_EQ(CALOTYPE_E_CONTEXT_LOST,
              calotype_launch(context, held, 0, one, one, 0, nullptr, nullptr));
    give_back(context, held);
    EXPECT_EQ(1u, stats().orphans);
    run(context, m);
    EXPECT_EQ("1 2 2 1 1", counts());
}

// G1, G12.
TEST_P(Scenario, S23_ContextLostWhileHeld) {
    TestLinkable a("a");
    const void *seen = &a;
    calotype_reason reason = CALOTYPE_R_LOAD;
    a.on_teardown = [&](const calotype_callback_args &args) {
        seen = args.module;
        reason = args.reason;
        return 0;
    };
    void *context = driver->make_context();
    const uint64_t uid = uid_of(context);
    calotype_hold held = hold(context, module("m", {&a}));
    driver->destroy_context(context);
    EXPECT_EQ(CALOTYPE_OK, calotype_context_lost(uid));
    lost_modules = 1;
    EXPECT_EQ("1 1 1 1 0", counts());
    EXPECT_EQ(nullptr, seen);
    EXPECT_EQ(CALOTYPE_R_CONTEXT_LOST, reason);
    EXPECT_EQ(CALOTYPE_OK, calotype_finalize_kernels(nullptr, &held));
    EXPECT_EQ(1u, stats().orphans);
    EXPECT_EQ("1 1 1 1 0", counts());
}

// G12.
TEST_P(Scenario, S23_NoTeardownAfterLoss) {
    has_teardown_for_each_setup = false;
    TestLinkable a("a");
    a.desc.flags = CALOTYPE_LK_NO_TEARDOWN_AFTER_LOSS;
    void *context = driver->make_context();
    const uint64_t uid = uid_of(context);
    run(context, module("m", {&a}));
    driver->destroy_context(context);
    EXPECT_EQ(CALOTYPE_OK, calotype_context_lost(uid));
    lost_modules = 1;
    EXPECT_EQ("1 1 1 0 0", counts());
}

TEST_P(Scenario, S24_NewContextAtTheSameAddress) {
    const TestLinkable a("a");
    void *context = driver->make_context();
    const auto *m = module("m", {&a});
    run(context, m);
    if (!driver->replace_context(context)) {
        const calotype_stats s = stats();
        lost_modules = s.loads - s.unloads - s.live_modules;
        GTEST_SKIP() << "this driver does not use addresses again";
    }
    lost_modules = 1;
    run(context, m);
    EXPECT_EQ("1 2 2 1 0", counts());
}

TEST_P(Scenario, S25_InitializeDuringRelease) {
    TestLinkable a("a");
    std::atomic<bool> is_tearing{false}, go_on{false};
    a.on_teardown = [&](const calotype_callback_args &) {
        is_tearing = true;
        while (!go_on) {
            sleep_ms(1);
        }
        return 0;
    };
    void *context = driver->make_context();
    const auto *A = module("A", {&a}), *B = module("B", {&a});
    run(context, A);
    std::thread releaser([&] {
        EXPECT_EQ(CALOTYPE_OK, calotype_release_context(on(context), CALOTYPE_REL_BUSY, 0));
    });
    while (!is_tearing) {
        sleep_ms(1);
    }
    calotype_hold held;
    EXPECT_EQ(CALOTYPE_E_CLOSING, try_hold(context, B, &held));
    EXPECT_EQ(CALOTYPE_E_CLOSING, calotype_release_context(on(context), CALOTYPE_REL_BUSY, 0));
    go_on = true;
    releaser.join();
    run(context, B);
    EXPECT_EQ("2 2 2 1 1", counts());
}

/// However a release meets a hold that is being taken or given back, it does not sleep on.
TEST_P(Scenario, ReleaseAmongHoldsThatComeAndGo) {
    void *context = driver->make_context();
    const auto *m = module("m");
    std::atomic<bool> is_done{false};
    std::thread holder([&] {
        while (!is_done) {
            calotype_hold held;
            const calotype_status status = try_hold(context, m, &held);
            if (status == CALOTYPE_OK) {
                give_back(context, held);
            } else {
                EXPECT_EQ(CALOTYPE_E_CLOSING, status);
            }
        }
    });
    for (int i = 0; i < 50; i++) {
        const auto begin = std::chrono::steady_clock::now();
        EXPECT_EQ(CALOTYPE_OK, calotype_release_context(on(context), CALOTYPE_REL_WAIT, 5000));
        EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
        sleep_ms(1);
    }
    is_done = true;
    holder.join();
}

}  // namespace calotype_test
