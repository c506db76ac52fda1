// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Many contexts, many modules, and everything at once: S38 and S39.
#include <random>

#include "harness/on_context.h"
#include "runtime/cache/scenario_fixture.h"

namespace calotype_test {

TEST_P(Scenario, S38_ManyContexts) {
    const auto [n_contexts, n_modules, held, steps] = driver->scale();
    const std::string compiles = std::to_string(n_modules);
    const std::string all = std::to_string(n_contexts * n_modules);
    const TestLinkable a("a");
    std::vector<const calotype_module_desc *> kernels;
    for (int i = 0; i < n_modules; i++) {
        kernels.push_back(module("k" + std::to_string(i), {&a}));
    }
    std::vector<void *> contexts;
    for (int i = 0; i < n_contexts; i++) {
        contexts.push_back(driver->make_context());
        for (const auto *kernel : kernels) {
            run(contexts.back(), kernel);
        }
    }
    EXPECT_EQ(compiles + " " + all + " " + all + " 0 0", counts());
    EXPECT_EQ(uint64_t(n_contexts) * uint64_t(n_modules), stats().live_modules);
    for (void *context : contexts) {
        EXPECT_EQ(CALOTYPE_OK, calotype_release_context(on(context), CALOTYPE_REL_BUSY, 0));
        EXPECT_EQ(CALOTYPE_OK, calotype_release_context(on(context), CALOTYPE_REL_BUSY, 0));
    }
    EXPECT_EQ(compiles + " " + all + " " + all + " " + all + " " + all, counts());
}

TEST_P(Scenario, S38_ManyHeldAtOnce) {
    const int n = driver->scale().held;
    void *context = driver->make_context();
    std::vector<calotype_hold> holds;
    for (int i = 0; i < n; i++) {
        holds.push_back(hold(context, module("k" + std::to_string(i))));
    }
    EXPECT_EQ(uint64_t(n), stats().holds);
    for (calotype_hold &held : holds) {
        give_back(context, held);
    }
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(on(context), CALOTYPE_REL_BUSY, 0));
    const std::string all = std::to_string(n);
    EXPECT_EQ(all + " " + all + " 0 0 " + all, counts());
}

namespace {

/// What one thread of S39 does.
class Player {
public:
    Player(std::vector<void *> contexts, std::vector<const calotype_module_desc *> kernels,
           unsigned seed)
        : contexts(std::move(contexts)), kernels(std::move(kernels)), random(seed) {
    }

    uint64_t calls = 0, refused = 0, unexpected = 0;

    void play(int steps) {
        for (int i = 0; i < steps; i++) {
            step();
        }
        while (!held.empty()) {
            give_one_back();
        }
    }

private:
    struct Held {
        void *context;
        calotype_hold hold;
    };
    std::vector<void *> contexts;
    std::vector<const calotype_module_desc *> kernels;
    std::mt19937 random;
    std::vector<Held> held;

    template<typename T>
    T one_of(const std::vector<T> &all) {
        return all[random() % all.size()];
    }
    void expect(bool condition) {
        unexpected += condition ? 0 : 1;
    }

    void take() {
        Held taken = {one_of(contexts), {}};
        const calotype_status status =
            calotype_initialize_kernels(taken.context, one_of(kernels), nullptr, &taken.hold);
        calls++;
        if (status == CALOTYPE_OK) {
            held.push_back(taken);
            launch(taken);
        } else {
            refused += status == CALOTYPE_E_CLOSING;
            expect(status == CALOTYPE_E_CLOSING || status == CALOTYPE_E_LOAD);
        }
    }
    void launch(const Held &on) {
        const uint32_t one[3] = {1, 1, 1};
        expect(calotype_launch(on.context, on.hold, 0, one, one, 0, nullptr, nullptr) ==
               CALOTYPE_OK);
    }
    void give_one_back() {
        const size_t i = random() % held.size();
        expect(calotype_finalize_kernels(held[i].context, &held[i].hold) == CALOTYPE_OK);
        held.erase(held.begin() + long(i));
    }
    void step() {
        const unsigned what = random() % 100;
        if (what < 2) {
            const calotype_status status = calotype_evict(
                on(one_of(contexts)), one_of(kernels), what ? uint32_t(CALOTYPE_EVICT_DEFER) : 0u);
            expect(status == CALOTYPE_OK || status == CALOTYPE_E_BUSY);
        } else if (what < 3) {
            const calotype_status status =
                calotype_release_context(on(one_of(contexts)), CALOTYPE_REL_BUSY, 0);
            expect(status == CALOTYPE_OK || status == CALOTYPE_E_BUSY ||
                   status == CALOTYPE_E_CLOSING);
        } else if (what < 4) {
            expect(calotype_trim(on(one_of(contexts)), 40, nullptr) == CALOTYPE_OK);
        } else if (what < 5 && !held.empty()) {
            Held pin = {one_of(held).context, {}};
            const Held &from = held[random() % held.size()];
            pin.context = from.context;
            expect(calotype_pin(from.hold, &pin.hold) == CALOTYPE_OK);
            held.push_back(pin);
        } else if (held.size() < 3 && (held.empty() || what % 2)) {
            take();
        } else {
            give_one_back();
        }
    }
};

}  // namespace

// G1.
TEST_P(Scenario, S39_Everything) {
    const TestLinkable a("a"), b("b");
    std::vector<void *> contexts;
    for (int i = 0; i < 3; i++) {
        contexts.push_back(driver->make_context());
    }
    std::vector<const calotype_module_desc *> kernels;
    for (int i = 0; i < 12; i++) {
        kernels.push_back(module("k" + std::to_string(i), {&a, &b}));
    }
    const calotype_limits limits = {sizeof limits, CALOTYPE_POLICY_LRU, 0, 5, 0, 0};
    EXPECT_EQ(CALOTYPE_OK, calotype_set_limits(&limits));
    driver->fail_some_loads(100);
    std::atomic<uint64_t> unexpected{0};
    in_threads(16, [&](int i) {
        Player player(contexts, kernels, unsigned(i) + 1);
        player.play(driver->scale().steps);
        calls += player.calls;
        refused += player.refused;
        unexpected += player.unexpected;
    });
    driver->fail_some_loads(0);
    EXPECT_EQ(0u, unexpected);
    EXPECT_EQ(CALOTYPE_OK, calotype_shutdown(5000));
    const calotype_stats s = stats();
    EXPECT_GT(s.loads, 12u);
    EXPECT_EQ(s.loads, s.unloads);
    EXPECT_EQ(2 * s.loads, s.setups);
    EXPECT_EQ(s.setups_ok, s.teardowns);
    EXPECT_EQ(0u, s.live_modules);
    EXPECT_EQ(0u, s.misuse);
    EXPECT_EQ(0u, s.orphans);
}

}  // namespace calotype_test
