// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules that go because they are told to or because there are too many: S15 to S19.
#include "harness/on_context.h"
#include "runtime/cache/scenario_fixture.h"

namespace calotype_test {

static void limit_modules(uint64_t n) {
    const calotype_limits limits = {sizeof limits, CALOTYPE_POLICY_LRU, 0, n, 0, 0};
    EXPECT_EQ(CALOTYPE_OK, calotype_set_limits(&limits));
}

// G1.
TEST_P(Scenario, S15_EvictIdle) {
    const TestLinkable a("a");
    void *context = driver->make_context();
    const auto *m = module("m", {&a});
    run(context, m);
    EXPECT_EQ(CALOTYPE_OK, calotype_evict(on(context), m, 0));
    EXPECT_EQ("1 1 1 1 1", counts());
    run(context, m);
    EXPECT_EQ("1 2 2 1 1", counts());
    EXPECT_EQ(1u, stats().evictions);
}

TEST_P(Scenario, S15_EvictWithImage) {
    void *context = driver->make_context();
    const auto *m = module("m");
    run(context, m);
    EXPECT_EQ(CALOTYPE_OK, calotype_evict(on(context), m, CALOTYPE_EVICT_IMAGE_TOO));
    EXPECT_EQ(0u, stats().image_bytes);
    run(context, m);
    EXPECT_EQ("2 2 0 0 1", counts());
}

// G4.
TEST_P(Scenario, S16_EvictHeld) {
    const TestLinkable a("a");
    void *context = driver->make_context();
    const auto *m = module("m", {&a});
    calotype_hold one = hold(context, m), two = hold(context, m);
    EXPECT_EQ(CALOTYPE_E_BUSY, calotype_evict(on(context), m, 0));
    EXPECT_EQ(CALOTYPE_OK, calotype_evict(on(context), m, CALOTYPE_EVICT_DEFER));
    EXPECT_EQ("1 1 1 0 0", counts());
    give_back(context, one);
    EXPECT_EQ("1 1 1 0 0", counts());
    give_back(context, two);
    EXPECT_EQ("1 1 1 1 1", counts());
}

TEST_P(Scenario, S17_LimitOfTwo) {
    const TestLinkable a("a"), b("b"), c("c");
    void *context = driver->make_context();
    const auto *A = module("A", {&a}), *B = module("B", {&b}), *C = module("C", {&c});
    limit_modules(2);
    for (const auto *m : {A, B, A, C}) {
        run(context, m);
    }
    EXPECT_EQ("3 3 3 1 1", counts());
    run(context, A);
    run(context, B);
    EXPECT_EQ("3 4 4 2 2", counts());
    EXPECT_EQ("s:a s:b s:c t:b s:b t:c", call_log().text());
    EXPECT_EQ(2u, stats().hits);
}

TEST_P(Scenario, S18_LimitOfOneAllHeld) {
    const TestLinkable a("a");
    void *context = driver->make_context();
    limit_modules(1);
    calotype_hold holds[3];
    const char *const names[] = {"A", "B", "C"};
    for (int i = 0; i < 3; i++) {
        holds[i] = hold(context, module(names[i], {&a}));
    }
    EXPECT_EQ("3 3 3 0 0", counts());
    EXPECT_EQ(2u, stats().over_limit);
    for (calotype_hold &held : holds) {
        give_back(context, held);
    }
    EXPECT_EQ("3 3 3 2 2", counts());
    EXPECT_EQ(3u, stats().over_limit);
    EXPECT_EQ(1u, stats().live_modules);
}

TEST_P(Scenario, S19_TooManyFinalizes) {
    const TestLinkable a("a");
    void *context = driver->make_context();
    const auto *m = module("m", {&a});
    calotype_hold held = hold(context, m), copies[2] = {held, held};
    give_back(context, held);
    for (calotype_hold &copy : copies) {
        EXPECT_EQ(CALOTYPE_E_UNDERFLOW, calotype_finalize_kernels(context, &copy));
    }
    EXPECT_EQ(2u, stats().misuse);
    EXPECT_EQ(0u, stats().holds);
    run(context, m);
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(on(context), CALOTYPE_REL_BUSY, 0));
    EXPECT_EQ("1 1 1 1 1", counts());
}

}  // namespace calotype_test
