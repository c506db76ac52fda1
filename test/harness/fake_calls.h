// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the fake drivers share: every call is counted, and can be made to fail or to take long.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>

namespace calotype_test {

/** One argument of a launch. */
struct FakeArgument {
    const void *value;
    size_t bytes;
    void *memory;  ///< if the value is the driver's handle of memory: its first byte
};

/** What a kernel, a function of the host, gets to see. */
struct FakeLaunch {
    const char *name;
    uint32_t grid[3], block[3];
    const FakeArgument *args;
    uint32_t n_args;
    void *queue;  ///< or stream
};
using FakeKernel = void (*)(const FakeLaunch &launch);

class FakeCalls {
    struct Plan {
        uint64_t count = 0;
        uint64_t fail_from = 0, fail_until = 0;  ///< by count, the latter exclusive
        int result = 0;
        int delay_ms = 0;
        uint64_t one_in = 0;  ///< how often it fails
    };
    std::mutex lock;
    std::map<std::string, Plan> plans;
    /// FAKE_DRIVER_FAULTS=N: about one of N calls of whatever function fails. Those that give
    /// something back do it all the same.
    const int one_of = getenv("FAKE_DRIVER_FAULTS") ? atoi(getenv("FAKE_DRIVER_FAULTS")) : 0;
    const int fault = getenv("FAKE_DRIVER_FAULT") ? atoi(getenv("FAKE_DRIVER_FAULT")) : 999;
    std::minstd_rand random;

    bool is_fault(const std::string &function) {
        const auto has = [&](const char *part) {
            return function.find(part) != std::string::npos;
        };
        return one_of > 0 && random() % unsigned(one_of) == 0 && !has("Destroy") &&
               !has("Release") && !has("Free") && !has("Unload") && !has("Pop") &&
               !has("Unregister");
    }

public:
    /** To be called first by the function of that name. Answers how it should fail, 0 for not. */
    int enter(const char *function) {
        int delay = 0, result = 0;
        {
            std::lock_guard<std::mutex> guard(lock);
            Plan &plan = plans[function];
            plan.count++;
            delay = plan.delay_ms;
            const bool is_planned = plan.count >= plan.fail_from && plan.count < plan.fail_until;
            const bool is_turn = plan.one_in != 0 && plan.count % plan.one_in == 0;
            result = is_planned || is_turn ? plan.result : is_fault(function) ? fault : 0;
        }
        if (delay > 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds(delay));
        }
        return result;
    }
    uint64_t count(const char *function) {
        std::lock_guard<std::mutex> guard(lock);
        return plans[function].count;
    }
    /** Let the nth call from now on (1: the next), and `times` in all, answer `result`. */
    void fail(const char *function, int result, int nth, int times) {
        std::lock_guard<std::mutex> guard(lock);
        Plan &plan = plans[function];
        plan.result = result;
        plan.fail_from = plan.count + uint64_t(nth);
        plan.fail_until = plan.fail_from + uint64_t(times);
    }
    /** Let one call in so many answer `result`; 0: none. */
    void fail_every(const char *function, int result, int one_in) {
        std::lock_guard<std::mutex> guard(lock);
        Plan &plan = plans[function];
        plan.result = result;
        plan.one_in = uint64_t(one_in);
    }
    void delay(const char *function, int ms) {
        std::lock_guard<std::mutex> guard(lock);
        plans[function].delay_ms = ms;
    }
    void reset() {
        std::lock_guard<std::mutex> guard(lock);
        plans.clear();
    }
};

}  // namespace calotype_test
