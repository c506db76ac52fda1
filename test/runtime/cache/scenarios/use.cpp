// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One compile, one load, one setup, however many ask: S01 to S14.
#include <chrono>

#include "harness/on_context.h"
#include "runtime/cache/scenario_fixture.h"

namespace calotype_test {

// G1.
TEST_P(Scenario, S01_OneKernelOneLinkable) {
    const TestLinkable a("a");
    void *context = driver->make_context();
    const auto *m = module("m", {&a});
    run(context, m);
    run(context, m);
    EXPECT_EQ("1 1 1 0 0", counts());
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(on(context), CALOTYPE_REL_BUSY, 0));
    EXPECT_EQ("1 1 1 1 1", counts());
    EXPECT_EQ(1u, stats().hits);
}

TEST_P(Scenario, S02_TypeVariants) {
    const TestLinkable a("a");
    void *context = driver->make_context();
    const auto *of_int = module("blur_i", {&a}), *of_float = module("blur_f", {&a});
    run(context, of_int);
    run(context, of_int);
    run(context, of_float);
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(on(context), CALOTYPE_REL_BUSY, 0));
    EXPECT_EQ("2 2 2 2 2", counts());
    EXPECT_EQ(2u, call_log().distinct_modules(CALOTYPE_EV_SETUP));
    EXPECT_EQ(2u, call_log().distinct_modules(CALOTYPE_EV_TEARDOWN));
}

// G1.
TEST_P(Scenario, S03_SharedLinkable) {
    const TestLinkable shared("shared");
    void *context = driver->make_context();
    run(context, module("one", {&shared}));
    run(context, module("two", {&shared}));
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(on(context), CALOTYPE_REL_BUSY, 0));
    EXPECT_EQ("2 2 2 2 2", counts());
}

TEST_P(Scenario, S04_CallbacksPresentOrNot) {
    has_teardown_for_each_setup = false;
    const TestLinkable both("both"), setup("setup", true, false), teardown("teardown", false, true),
        neither("neither", false, false);
    void *context = driver->make_context();
    for (const TestLinkable *linkable : {&both, &setup, &teardown, &neither}) {
        run(context, module("m_" + linkable->name, {linkable}));
    }
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(on(context), CALOTYPE_REL_BUSY, 0));
    EXPECT_EQ("4 4 2 2 4", counts());
}

// G3, G8.
TEST_P(Scenario, S05_SetupWritesGlobal) {
    if (!driver->has_globals()) {
        GTEST_SKIP() << "modules of this driver have no globals";
    }
    TestLinkable a("a");
    int seen_at_teardown = 0;
    a.on_setup = [](const calotype_callback_args &args) {
        const int32_t value = 42;
        *args.instance = reinterpret_cast<void *>(uintptr_t(4242));
        uint64_t address = 0;
        size_t bytes = 0;
        EXPECT_EQ(CALOTYPE_OK, args.svc->get_global(&args, "value", &address, &bytes));
        EXPECT_EQ(sizeof value, bytes);
        EXPECT_EQ(CALOTYPE_E_INVALID, args.svc->copy_to_global(&args, "value", 2, &value, 4));
        return int(args.svc->copy_to_global(&args, "value", 0, &value, sizeof value));
    };
    a.on_teardown = [&](const calotype_callback_args &args) {
        seen_at_teardown = int(reinterpret_cast<uintptr_t>(*args.instance));
        return 0;
    };
    void *context = driver->make_context();
    calotype_hold held = hold(context, module("m", {&a}, {"", true}));
    EXPECT_EQ(42, driver->read_global(context, held, 1));
    give_back(context, held);
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(on(context), CALOTYPE_REL_BUSY, 0));
    EXPECT_EQ("1 1 1 1 1", counts());
    EXPECT_EQ(4242, seen_at_teardown);
}

// G1.
TEST_P(Scenario, S06_SameLinkableByThreeRoutes) {
    const TestLinkable a("a");
    void *context = driver->make_context();
    run(context, module("m", {&a, &a, &a}));
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(on(context), CALOTYPE_REL_BUSY, 0));
    EXPECT_EQ("1 1 1 1 1", counts());
}

// G1, G3.
TEST_P(Scenario, S07_FourThreadsOneColdKernel) {
    const TestLinkable a("a");
    void *context = driver->make_context();
    driver->delay_builds(20);
    const auto *m = module("m", {&a});
    in_threads(4, [&](int) { run(context, m); });
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(on(context), CALOTYPE_REL_BUSY, 0));
    EXPECT_EQ("1 1 1 1 1", counts());
    EXPECT_EQ(3u, stats().hits + stats().waits);
}

TEST_P(Scenario, S08_FourThreadsTwoKernels) {
    const TestLinkable a("a");
    void *context = driver->make_context();
    const auto *A = module("A", {&a}), *B = module("B", {&a});
    in_threads(4, [&](int) {
        run(context, A);
        run(context, A);
        run(context, B);
    });
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(on(context), CALOTYPE_REL_BUSY, 0));
    EXPECT_EQ("2 2 2 2 2", counts());
    EXPECT_EQ(10u, stats().hits + stats().waits);
}

TEST_P(Scenario, S09_CompilesOverlap) {
    TestLinkable a("a");
    a.desc.flags = CALOTYPE_LK_THREADSAFE;
    void *context = driver->make_context();
    driver->delay_builds(250);
    std::vector<const calotype_module_desc *> kernels;
    for (int i = 0; i < 8; i++) {
        kernels.push_back(module("k" + std::to_string(i), {&a}));
    }
    const auto begin = std::chrono::steady_clock::now();
    in_threads(64, [&](int i) { run(context, kernels[size_t(i % 8)]); });
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    driver->delay_builds(0);
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(on(context), CALOTYPE_REL_BUSY, 0));
    EXPECT_EQ("8 8 8 8 8", counts());
    EXPECT_EQ(56u, stats().hits + stats().waits);
    if (driver->can_fail()) {
        EXPECT_LT(wall.count(), 8 * 0.250 / 2);
    }
}

TEST_P(Scenario, S10_TwoContexts) {
    const TestLinkable a("a");
    void *one = driver->make_context(), *two = driver->make_context();
    const auto *m = module("m", {&a});
    run(one, m);
    run(two, m);
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(on(one), CALOTYPE_REL_BUSY, 0));
    EXPECT_EQ("1 2 2 1 1", counts());
    const uint64_t hits = stats().hits;
    run(two, m);
    EXPECT_EQ(hits + 1, stats().hits);
    EXPECT_EQ(1u, stats(uid_of(two)).live_modules);
    EXPECT_EQ(0u, stats(uid_of(one)).live_modules);
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(on(two), CALOTYPE_REL_BUSY, 0));
    EXPECT_EQ("1 2 2 2 2", counts());
}

// G1.
TEST_P(Scenario, S11_TwoContextsEightThreads) {
    const TestLinkable a("a");
    void *contexts[2] = {driver->make_context(), driver->make_context()};
    const auto *m = module("m", {&a});
    in_threads(16, [&](int i) {
        for (int n = 0; n < 10; n++) {
            run(contexts[i % 2], m);
        }
    });
    EXPECT_EQ(CALOTYPE_OK, calotype_shutdown(1000));
    EXPECT_EQ("1 2 2 2 2", counts());
    EXPECT_EQ(158u, stats().hits + stats().waits);
}

// G2.
TEST_P(Scenario, S12_OrderOfLinkables) {
    const TestLinkable a("a"), b("b"), c("c");
    void *context = driver->make_context();
    run(context, module("m", {&a, &b, &c}));
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(on(context), CALOTYPE_REL_BUSY, 0));
    EXPECT_EQ("1 1 3 3 1", counts());
    EXPECT_EQ("s:a s:b s:c t:c t:b t:a", call_log().text());
}

/// `after` comes before the order of declaration.
// G2.
TEST_P(Scenario, S12_OrderByDependence) {
    TestLinkable a("a"), b("b"), c("c");
    const uint16_t last = 2;
    a.desc.after = &last;
    a.desc.n_after = 1;
    void *context = driver->make_context();
    run(context, module("m", {&a, &b, &c}));
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(on(context), CALOTYPE_REL_BUSY, 0));
    EXPECT_EQ("s:b s:c s:a t:a t:c t:b", call_log().text());
}

// G2.
TEST_P(Scenario, S13_OrderOfModules) {
    const TestLinkable one("1"), two("2"), three("3");
    void *context = driver->make_context();
    for (const TestLinkable *linkable : {&one, &two, &three}) {
        run(context, module("m" + linkable->name, {linkable}));
    }
    call_log().clear();
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(on(context), CALOTYPE_REL_BUSY, 0));
    EXPECT_EQ("3 3 3 3 3", counts());
    EXPECT_EQ("t:3 t:2 t:1", call_log().text());
}

TEST_P(Scenario, S14_HundredPairs) {
    const TestLinkable a("a");
    void *context = driver->make_context();
    const auto *m = module("m", {&a});
    for (int i = 0; i < 100; i++) {
        run(context, m);
    }
    EXPECT_EQ("1 1 1 0 0", counts());
    EXPECT_EQ(99u, stats().hits);
    EXPECT_EQ(1u, stats().live_modules);
    EXPECT_EQ(0u, stats().holds);
}

}  // namespace calotype_test
