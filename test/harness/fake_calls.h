// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the fake drivers share: every call is counted, and can be made to fail or to take long.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
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
            result = is_planned || is_turn ? plan.result : 0;
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
