// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The scenarios of the kernel cache are written once and run on every driver for which somebody
// implements this. A driver is made anew for each scenario and gone after it.
//
//     INSTANTIATE_TEST_SUITE_P(FakeCuda, Scenario, ::testing::Values(make_fake_cuda_driver));
//
// What a driver cannot do it says, and the scenarios that need it are skipped.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "runtime/abi/kernel_cache.h"
#include "runtime/abi/linkables.h"

namespace calotype_test {

/** Code of one module. Its kernels are `k0` and, if it reads the global, `read(int *out)`. */
struct ScenarioCode {
    std::string name;           ///< makes the text unlike that of all other names
    bool reads_global = false;  ///< `read` stores the int32 global `value` to *out
    bool is_broken = false;     ///< does not compile
};

/** An image that the driver's back end compiles or loads. */
struct ScenarioImage {
    calotype_kind kind;
    uint32_t sm = 0;
    std::string data;
};

/** How much S38 and S39 ask of a driver. */
struct ScenarioScale {
    int contexts = 200, modules = 60;  ///< of each context
    int held = 3000;                   ///< modules of one context, at once
    int steps = 2000;                  ///< of each thread
};

class ScenarioDriver {
public:
    virtual ~ScenarioDriver() = default;
    virtual const calotype_device_interface_t *(*device_interface())() = 0;

    /** A new context: the user context of calls that use it. */
    virtual void *make_context() = 0;
    /** End it without a word to the cache. */
    virtual void destroy_context(void *user_context) = 0;
    /** The same, and a new one at the same address under the same user context. False:
     * cannot; if the old one has gone by then, the cache knows that it is lost. */
    virtual bool replace_context(void *user_context) = 0;

    virtual ScenarioImage image(const ScenarioCode &code) = 0;

    /** Devices have this compute capability from now on; contexts are made afterwards. False:
     * cannot. */
    virtual bool set_architecture(int sm) {
        (void)sm;
        return false;
    }
    /** Faults and delays. False: cannot. */
    virtual bool can_fail() {
        return true;
    }
    /** Whether children can use what their parent has of the driver: it has no threads, and keeps
     * nothing outside of the process. */
    virtual bool survives_fork() {
        return true;
    }
    virtual void fail_loads(int times, bool out_of_memory) = 0;
    /** Let about one load in so many fail; 0: none. */
    virtual void fail_some_loads(int one_in) {
        (void)one_in;
    }
    virtual void delay_builds(int ms) = 0;
    virtual ScenarioScale scale() {
        return {};
    }
    virtual bool has_globals() {
        return true;
    }
    /** Whether that context is the calling thread's; -1: threads of this driver have none. */
    virtual int is_current(void *user_context) {
        (void)user_context;
        return -1;
    }
    /** Launch `read` and answer what it stores; as it is for fakes, whose memory is the host's. */
    virtual int read_global(void *user_context, const calotype_hold &hold, uint32_t kernel);

    /** Work that is queued on the stream of the context from now on waits. False: cannot. */
    virtual bool hold_stream(void *user_context, bool hold) = 0;
    /** The stream of the context, for calotype_finalize_kernels_after. */
    virtual void *stream_of(void *user_context) = 0;

    /** Loaded at this time, as the driver counts; -1: unknown. */
    virtual int live_modules() = 0;
    /** What a careful program does not do, as double unloads; 0 where the driver does not say. */
    virtual int misuse() {
        return 0;
    }
};

using MakeScenarioDriver = std::unique_ptr<ScenarioDriver> (*)();

/** A linkable that writes down its calls. */
struct TestLinkable {
    using Callback = std::function<int(const calotype_callback_args &args)>;

    std::string name;
    calotype_linkable_desc desc = {};
    Callback on_setup, on_teardown;  ///< after the call is written down; null: success

    /// With callbacks or without.
    explicit TestLinkable(const std::string &name, bool setup = true, bool teardown = true);
    ~TestLinkable();
    TestLinkable(const TestLinkable &) = delete;
};

/** What callbacks have been called, as "s:a t:a". */
class CallLog {
    std::mutex lock;
    std::vector<std::string> calls;
    std::set<const void *> modules[2];

public:
    void add(const calotype_callback_args &args);
    void clear();
    std::string text();
    /** Different modules in calls of setups, and of teardowns. */
    size_t distinct_modules(calotype_event event);
};
CallLog &call_log();

/** A descriptor and all that it points at. */
struct TestModule {
    std::string name;
    ScenarioImage data;
    calotype_image image;
    std::vector<calotype_kernel_desc> kernels;
    std::vector<const calotype_linkable_desc *> linkables;
    calotype_module_desc desc = {};
};

/** The suite: scenarios/, part of every executable that instantiates it. */
class Scenario : public ::testing::TestWithParam<MakeScenarioDriver> {
protected:
    std::unique_ptr<ScenarioDriver> driver;
    std::vector<std::unique_ptr<TestModule>> modules;
    std::atomic<uint64_t> calls{0};    ///< of initialize
    std::atomic<uint64_t> refused{0};  ///< of them by REENTRANT, DEADLOCK, CLOSING and the like
    uint64_t lost_modules = 0;         ///< that went with their contexts
    bool has_teardown_for_each_setup = true;

    void SetUp() override;
    /** Shut the cache down and compare its counters with each other and with the driver's. */
    void TearDown() override;

    calotype_module_desc *module(const std::string &name,
                                 std::vector<const TestLinkable *> linkables = {},
                                 ScenarioCode code = {});

    /// @name Calls that are counted and, but for the `try_` ones, must succeed
    /// @{
    calotype_status try_hold(void *context, const calotype_module_desc *desc, calotype_hold *hold);
    calotype_hold hold(void *context, const calotype_module_desc *desc);
    void give_back(void *context, calotype_hold &hold);
    /** Hold, launch, give back. */
    void run(void *context, const calotype_module_desc *desc);
    /// @}

    static calotype_stats stats(uint64_t context_uid = 0);
    /** "C L S T U" of the table. */
    static std::string counts();
    uint64_t uid_of(void *context);
    static void in_threads(int n, const std::function<void(int)> &body);
};

}  // namespace calotype_test
