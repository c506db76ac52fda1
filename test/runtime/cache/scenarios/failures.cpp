// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What fails, for whom, and what is left: S26 to S34.
#include <chrono>
#include <stdexcept>
#include <thread>

#include "harness/on_context.h"
#include "runtime/cache/scenario_fixture.h"

namespace calotype_test {

TEST_P(Scenario, S26_CodeDoesNotCompile) {
    void *context = driver->make_context();
    const auto *m = module("m", {}, {"", false, true});
    for (int i = 0; i < 3; i++) {
        calotype_hold held;
        EXPECT_EQ(CALOTYPE_E_COMPILE, try_hold(context, m, &held));
        EXPECT_STRNE("", calotype_last_error()->log);
        EXPECT_STREQ("m", calotype_last_error()->module_name);
    }
    EXPECT_EQ("1 0 0 0 0", counts());
    EXPECT_EQ(1u, stats().failures);
    EXPECT_EQ(2u, stats().negative_hits);
    EXPECT_EQ(CALOTYPE_OK, calotype_forget(m));
    calotype_hold held;
    EXPECT_EQ(CALOTYPE_E_COMPILE, try_hold(context, m, &held));
    EXPECT_EQ("2 0 0 0 0", counts());
}

TEST_P(Scenario, S27_CodeDoesNotCompileForFive) {
    void *context = driver->make_context();
    const auto *m = module("m", {}, {"", false, true});
    driver->delay_builds(20);
    std::string logs[5];
    in_threads(5, [&](int i) {
        calotype_hold held;
        EXPECT_EQ(CALOTYPE_E_COMPILE, try_hold(context, m, &held));
        logs[i] = calotype_last_error()->log;
    });
    EXPECT_EQ("1 0 0 0 0", counts());
    EXPECT_EQ(4u, stats().negative_hits + stats().waits);
    for (const std::string &log : logs) {
        EXPECT_EQ(logs[0], log);
        EXPECT_NE("", log);
    }
}

TEST_P(Scenario, S28_LoadFailsOnce) {
    if (!driver->can_fail()) {
        GTEST_SKIP() << "this driver does not fail on demand";
    }
    const TestLinkable a("a");
    void *context = driver->make_context();
    const auto *m = module("m", {&a});
    driver->fail_loads(1, false);
    calotype_hold held;
    EXPECT_EQ(CALOTYPE_E_LOAD, try_hold(context, m, &held));
    run(context, m);
    EXPECT_EQ("1 1 1 0 0", counts());
    EXPECT_EQ(1u, stats().failures);
}

// G1, G10.
TEST_P(Scenario, S29_SecondSetupFails) {
    TestLinkable a("a"), b("b"), c("c");
    int failures = 1;
    b.on_setup = [&](const calotype_callback_args &args) {
        args.svc->set_error(&args, "no luck");
        return failures-- > 0 ? 7 : 0;
    };
    void *context = driver->make_context();
    const auto *m = module("m", {&a, &b, &c});
    calotype_hold held;
    EXPECT_EQ(CALOTYPE_E_SETUP, try_hold(context, m, &held));
    const calotype_error_info &error = *calotype_last_error();
    EXPECT_STREQ("b", error.linkable_name);
    EXPECT_EQ(1, error.linkable_index);
    EXPECT_EQ(7, error.callback_rc);
    EXPECT_STREQ("no luck", error.log);
    EXPECT_EQ("1 1 2 1 1", counts());
    EXPECT_EQ("s:a s:b t:a", call_log().text());
    run(context, m);
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(on(context), CALOTYPE_REL_BUSY, 0));
    EXPECT_EQ("1 2 5 4 2", counts());
    EXPECT_EQ(4u, stats().setups_ok);
}

// G3, G10.
TEST_P(Scenario, S30_SetupFailsForWaiters) {
    TestLinkable a("a");
    a.on_setup = [&](const calotype_callback_args &) {
        while (stats().waits < 3) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return 1;
    };
    void *context = driver->make_context();
    const auto *m = module("m", {&a});
    std::string errors[4];
    in_threads(4, [&](int i) {
        calotype_hold held;
        EXPECT_EQ(CALOTYPE_E_SETUP, try_hold(context, m, &held));
        errors[i] = calotype_last_error()->linkable_name;
    });
    for (const std::string &error : errors) {
        EXPECT_EQ("a", error);
    }
    EXPECT_EQ("1 1 1 0 1", counts());
}

// G10.
TEST_P(Scenario, S31_SetupThrows) {
    TestLinkable a("a");
    struct Guard {
        int &left;
        ~Guard() {
            left++;
        }
    };
    int destroyed = 0;
    a.on_setup = [&](const calotype_callback_args &) -> int {
        const Guard guard{destroyed};
        throw std::runtime_error("from a callback");
    };
    void *context = driver->make_context();
    calotype_hold held;
    EXPECT_EQ(CALOTYPE_E_SETUP, try_hold(context, module("m", {&a}), &held));
    EXPECT_EQ(-1, calotype_last_error()->callback_rc);
    EXPECT_STREQ("the callback threw an exception", calotype_last_error()->log);
    EXPECT_EQ(1, destroyed);
    EXPECT_EQ(0, std::uncaught_exceptions());
    EXPECT_EQ("1 1 1 0 1", counts());
    EXPECT_EQ(0u, stats().live_modules);
}

// G11.
TEST_P(Scenario, S32_OneTeardownFails) {
    TestLinkable a("a"), b("b"), c("c");
    b.on_teardown = [](const calotype_callback_args &) {
        return 3;
    };
    void *context = driver->make_context();
    run(context, module("m", {&a, &b, &c}));
    EXPECT_EQ(CALOTYPE_E_TEARDOWN, calotype_release_context(on(context), CALOTYPE_REL_BUSY, 0));
    EXPECT_STREQ("b", calotype_last_error()->linkable_name);
    EXPECT_EQ(3, calotype_last_error()->callback_rc);
    EXPECT_EQ("1 1 3 3 1", counts());
    EXPECT_EQ(1u, stats().teardown_errors);
}

// G6, G7.
TEST_P(Scenario, S33a_SetupAsksForOthersAndItself) {
    TestLinkable a("a"), b("b");
    void *context = driver->make_context();
    const calotype_module_desc *A = module("A", {&a}), *B = module("B", {&b});
    std::atomic<int> reentrant{0};
    a.on_setup = [&](const calotype_callback_args &) {
        run(context, B);
        calotype_hold held;
        reentrant += try_hold(context, A, &held) == CALOTYPE_E_REENTRANT;
        return 0;
    };
    run(context, A);
    EXPECT_EQ(1, reentrant);
    EXPECT_EQ("2 2 2 0 0", counts());
}

// G7.
TEST_P(Scenario, S33b_SetupsWaitForEachOther) {
    TestLinkable x("x"), y("y");
    void *context = driver->make_context();
    const calotype_module_desc *X = module("X", {&x}), *Y = module("Y", {&y});
    std::atomic<int> deadlocks{0}, inside{0};
    const auto ask = [&](const calotype_module_desc *other) {
        inside++;
        while (inside < 2) {
            std::this_thread::yield();
        }
        calotype_hold held;
        if (try_hold(context, other, &held) == CALOTYPE_E_DEADLOCK) {
            deadlocks++;
        } else {
            give_back(context, held);
        }
        return 0;
    };
    x.on_setup = [&](const calotype_callback_args &) {
        return ask(Y);
    };
    y.on_setup = [&](const calotype_callback_args &) {
        return ask(X);
    };
    in_threads(2, [&](int i) { run(context, i ? X : Y); });
    EXPECT_EQ(1, deadlocks);
    EXPECT_EQ("2 2 2 0 0", counts());
}

TEST_P(Scenario, S34_OutOfMemoryAtLoad) {
    if (!driver->can_fail()) {
        GTEST_SKIP() << "this driver does not fail on demand";
    }
    const TestLinkable a("a");
    void *context = driver->make_context();
    run(context, module("A", {&a}));
    run(context, module("B", {&a}));
    const auto *C = module("C", {&a});
    driver->fail_loads(1, true);
    run(context, C);
    EXPECT_EQ("3 3 3 2 2", counts());
    EXPECT_EQ(1u, stats().oom_retries);
    EXPECT_EQ(2u, stats().evictions);
}

TEST_P(Scenario, S34_OutOfMemoryForGood) {
    if (!driver->can_fail()) {
        GTEST_SKIP() << "this driver does not fail on demand";
    }
    void *context = driver->make_context();
    const auto *m = module("m");
    driver->fail_loads(2, true);
    calotype_hold held;
    EXPECT_EQ(CALOTYPE_E_OOM, try_hold(context, m, &held));
    EXPECT_EQ(1u, stats().oom_retries);
    run(context, m);
    EXPECT_EQ("1 1 0 0 0", counts());
}

}  // namespace calotype_test
