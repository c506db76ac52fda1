// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A process forks while its threads take and give back holds, evict modules, and release contexts
// that are met again: S47. A fork takes all locks of the runtime, in the order in which its threads
// take them; in another order it would wait for a thread that waits for it.
#include <thread>

#include "harness/in_child.h"
#include "harness/on_context.h"
#include "runtime/cache/scenario_fixture.h"

namespace calotype_test {

namespace {

constexpr int n_forks = 60;
/// Of the process that forks, with all its threads and children.
constexpr unsigned deadline_s = 100;

struct Place {
    void *context;
    const calotype_module_desc *module;
};

/// What the threads do until it is over. Calls that are refused, as a release of what is held, are
/// nothing wrong.
class Turmoil {
    std::atomic<bool> is_over{false};
    std::atomic<uint64_t> holds{0};
    std::vector<std::thread> threads;

    void hold_and_evict(const Place &place) {
        for (int i = 0; !is_over; i++) {
            calotype_hold hold;
            if (calotype_initialize_kernels(place.context, place.module, nullptr, &hold) ==
                CALOTYPE_OK) {
                holds++;
                calotype_finalize_kernels(place.context, &hold);
            }
            if (i % 8 == 0) {
                calotype_evict(on(place.context), place.module, CALOTYPE_EVICT_DEFER);
            }
        }
    }
    /// Each time it is another identity, which is asked for with the cache locked.
    void meet_and_release(const Place &place) {
        uint64_t uid = 0;
        while (!is_over) {
            calotype_context_uid(on(place.context), place.module->device_interface(), &uid);
            calotype_release_context(on(place.context), CALOTYPE_REL_BUSY, 0);
        }
    }

public:
    /// Two threads of each kind in contexts of their own, and one that releases the context in
    /// which another loads.
    explicit Turmoil(const std::vector<Place> &places) {
        for (size_t i = 0; i < places.size(); i++) {
            threads.emplace_back([this, i, place = places[i]] {
                i % 2 ? meet_and_release(place) : hold_and_evict(place);
            });
        }
        threads.emplace_back([this, place = places[0]] { meet_and_release(place); });
    }
    /// How many holds there were.
    uint64_t end() {
        is_over = true;
        for (std::thread &thread : threads) {
            thread.join();
        }
        return holds;
    }
};

calotype_stats read_stats() {
    calotype_stats stats = {};
    stats.size = sizeof stats;
    calotype_get_stats(0, &stats);
    return stats;
}

/// In a child, which calls no driver: its locks may be those of threads that are not there. The
/// hold is its parent's.
int use_the_cache(calotype_hold hold) {
    const calotype_stats before = read_stats();
    int wrong = before.live_modules != 0 || before.live_bytes != 0;
    wrong |= (calotype_finalize_kernels(nullptr, &hold) != CALOTYPE_OK) << 1;
    wrong |= (read_stats().holds != before.holds - 1) << 2;
    wrong |= (calotype_set_store(nullptr) != CALOTYPE_OK) << 3;
    wrong |= (calotype_shutdown(1000) != CALOTYPE_OK) << 4;
    wrong |= (read_stats().misuse != before.misuse) << 5;
    return wrong;
}

/// Whether all that was counted fits together, once no thread does anything any more.
int compare_counts(uint64_t holds) {
    int wrong = calotype_shutdown(10000) != CALOTYPE_OK;
    const calotype_stats s = read_stats();
    wrong |= (s.loads != s.unloads || s.live_modules != 0 || s.live_bytes != 0) << 1;
    wrong |= (s.holds != 0) << 2;
    wrong |= (s.misuse != 0 || s.orphans != 0) << 3;
    wrong |= (s.hits + s.waits + s.misses + s.negative_hits != holds) << 4;
    return wrong;
}

int fork_again_and_again(const std::vector<Place> &places, const Place &own) {
    calotype_reset_stats();
    Turmoil turmoil(places);
    int wrong = 0;
    for (int i = 0; i < n_forks && !wrong; i++) {
        calotype_hold hold;
        wrong = calotype_initialize_kernels(own.context, own.module, nullptr, &hold) != CALOTYPE_OK;
        wrong = wrong ? wrong : in_child([&] { return use_the_cache(hold); });
        calotype_finalize_kernels(own.context, &hold);
    }
    const uint64_t holds = turmoil.end() + n_forks;
    return wrong ? 64 | wrong : compare_counts(holds);
}

}  // namespace

TEST_P(Scenario, S47_ForksBesideAllElse) {
    if (!driver->survives_fork()) {
        GTEST_SKIP() << "a child has none of the threads of a real driver";
    }
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the thread sanitizer knows no threads in children of processes with threads";
#endif
    std::vector<Place> places;
    for (int i = 0; i < 5; i++) {
        places.push_back({driver->make_context(), module("m" + std::to_string(i))});
    }
    const Place own = places.back();
    places.pop_back();
    EXPECT_EQ(0, in_child([&] { return fork_again_and_again(places, own); }, deadline_s));
}

}  // namespace calotype_test
