// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Holds that end with a stream, pins, and loading ahead of time.
#include <chrono>
#include <thread>

#include "harness/on_context.h"
#include "runtime/cache/scenario_fixture.h"

namespace calotype_test {

// G4.
TEST_P(Scenario, StreamHold) {
    void *context = driver->make_context();
    const auto *m = module("m");
    calotype_hold held = hold(context, m);
    if (!driver->hold_stream(context, true)) {
        give_back(context, held);
        GTEST_SKIP() << "streams of this driver cannot be held";
    }
    EXPECT_EQ(CALOTYPE_OK,
              calotype_finalize_kernels_after(context, &held, driver->stream_of(context)));
    EXPECT_EQ(nullptr, held.entry);
    EXPECT_EQ(1u, stats().holds);
    EXPECT_EQ(CALOTYPE_E_BUSY, calotype_evict(on(context), m, 0));
    EXPECT_EQ(CALOTYPE_E_BUSY, calotype_release_context(on(context), CALOTYPE_REL_BUSY, 0));
    EXPECT_EQ(CALOTYPE_E_TIMEOUT, calotype_release_context(on(context), CALOTYPE_REL_WAIT, 5));
    run(context, m);
    EXPECT_EQ(1u, stats().holds);
    driver->hold_stream(context, false);
    run(context, m);
    EXPECT_EQ(0u, stats().holds);
    EXPECT_EQ(CALOTYPE_OK, calotype_evict(on(context), m, 0));
    EXPECT_EQ("1 1 0 0 1", counts());
}

TEST_P(Scenario, StreamHoldEndsWhileReleaseWaits) {
    void *context = driver->make_context();
    calotype_hold held = hold(context, module("m"));
    if (!driver->hold_stream(context, true)) {
        give_back(context, held);
        GTEST_SKIP() << "streams of this driver cannot be held";
    }
    EXPECT_EQ(CALOTYPE_OK,
              calotype_finalize_kernels_after(context, &held, driver->stream_of(context)));
    in_threads(2, [&](int i) {
        if (i == 0) {
            EXPECT_EQ(CALOTYPE_OK, calotype_release_context(on(context), CALOTYPE_REL_WAIT, 5000));
        } else {
            driver->hold_stream(context, false);
        }
    });
    EXPECT_EQ("1 1 0 0 1", counts());
}

/// A release that waits for a call's hold goes on to wait for the stream, and no longer than that.
TEST_P(Scenario, StreamHoldBeginsWhileReleaseWaits) {
    void *context = driver->make_context();
    const auto *m = module("m");
    calotype_hold held = hold(context, m);
    std::thread release([&] {
        const auto begin = std::chrono::steady_clock::now();
        EXPECT_EQ(CALOTYPE_OK, calotype_release_context(on(context), CALOTYPE_REL_WAIT, 10000));
        EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // it sleeps
    run(context, m);                                             // and nobody is kept waiting
    EXPECT_EQ(CALOTYPE_OK,
              calotype_finalize_kernels_after(context, &held, driver->stream_of(context)));
    release.join();
    EXPECT_EQ("1 1 0 0 1", counts());
}

TEST_P(Scenario, PinOutlivesItsHold) {
    void *context = driver->make_context();
    const auto *m = module("m");
    calotype_hold held = hold(context, m), pin;
    EXPECT_EQ(CALOTYPE_OK, calotype_pin(held, &pin));
    give_back(context, held);
    EXPECT_EQ(CALOTYPE_E_BUSY, calotype_evict(on(context), m, 0));
    EXPECT_EQ(CALOTYPE_OK, calotype_unpin(&pin));
    EXPECT_EQ(nullptr, pin.entry);
    EXPECT_EQ(CALOTYPE_E_UNDERFLOW, calotype_unpin(&pin));
    EXPECT_EQ(CALOTYPE_OK, calotype_evict(on(context), m, 0));
    EXPECT_EQ(CALOTYPE_E_INVALID, calotype_pin(held, &pin));
}

/// A hold counts where it was taken, wherever it is given back.
TEST_P(Scenario, GivenBackOnAnotherThread) {
    void *context = driver->make_context();
    const auto *m = module("m");
    run(context, m);
    calotype_hold holds[8];
    in_threads(8, [&](int i) { holds[i] = hold(context, m); });
    EXPECT_EQ(8u, stats().holds);
    std::vector<calotype_hold> copies(holds, holds + 8);
    for (calotype_hold &held : holds) {
        give_back(context, held);
    }
    for (calotype_hold &copy : copies) {
        EXPECT_EQ(CALOTYPE_E_UNDERFLOW, calotype_finalize_kernels(context, &copy));
    }
    EXPECT_EQ(0u, stats().holds);
    EXPECT_EQ(8u, stats().misuse);
}

TEST_P(Scenario, Prefetch) {
    void *context = driver->make_context();
    const calotype_module_desc *all[5];
    for (int i = 0; i < 5; i++) {
        all[i] = module("m" + std::to_string(i));
    }
    driver->delay_builds(20);
    void *ticket = nullptr;
    calls += 5;
    ASSERT_EQ(CALOTYPE_OK, calotype_prefetch(on(context), all, 5, 0, &ticket));
    EXPECT_EQ(CALOTYPE_E_TIMEOUT, calotype_prefetch_wait(ticket, 1));
    EXPECT_EQ(CALOTYPE_OK, calotype_prefetch_wait(ticket, 10000));
    EXPECT_EQ("5 5 0 0 0", counts());
    for (const auto *m : all) {
        run(context, m);
    }
    EXPECT_EQ(5u, stats().hits);
    EXPECT_EQ("5 5 0 0 0", counts());
}

TEST_P(Scenario, PrefetchOfWhatDoesNotCompile) {
    void *context = driver->make_context();
    const calotype_module_desc *all[2] = {module("good"), module("bad", {}, {"", false, true})};
    void *ticket = nullptr;
    calls += 2;
    ASSERT_EQ(CALOTYPE_OK, calotype_prefetch(on(context), all, 2, 0, &ticket));
    EXPECT_EQ(CALOTYPE_E_COMPILE, calotype_prefetch_wait(ticket, 10000));
    EXPECT_STREQ("bad", calotype_last_error()->module_name);
    run(context, all[0]);
}

}  // namespace calotype_test
