// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The scenarios of the kernel cache are written once and run on every driver for which somebody
// implements this. A driver is made anew for each scenario and gone after it.
//
//     INSTANTIATE_TEST_SUITE_P(FakeCuda, Scenario, ::testing::Values(make_fake_cuda_driver));
//
// What a driver cannot do it says, and the scenarios that need it are skipped.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

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

class ScenarioDriver {
public:
    virtual ~ScenarioDriver() = default;
    virtual const calotype_device_interface_t *(*device_interface())() = 0;

    /** A new context: the user context of calls that use it. */
    virtual void *make_context() = 0;
    /** End it without a word to the cache. */
    virtual void destroy_context(void *user_context) = 0;
    /** The same, and a new one at the same address under the same user context. False: cannot. */
    virtual bool replace_context(void *user_context) = 0;

    virtual ScenarioImage image(const ScenarioCode &code) = 0;

    /** Whether making an image counts as a compile step: false where the driver compiles as part
     * of loading. Then scenarios install a compile hook. */
    virtual bool builds_images() {
        return true;
    }
    /** Faults and delays. False: cannot. */
    virtual bool can_fail() {
        return true;
    }
    virtual void fail_loads(int times, bool out_of_memory) = 0;
    virtual void delay_builds(int ms) = 0;
    virtual void delay_unloads(int ms) = 0;
    virtual bool has_globals() {
        return true;
    }
    /** Launch `read` and answer what it stores. */
    virtual int read_global(void *user_context, const calotype_hold &hold, uint32_t kernel) = 0;

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

/** The suite: scenarios*.cpp, part of every executable that instantiates it. */
class Scenario : public ::testing::TestWithParam<MakeScenarioDriver> {
protected:
    std::unique_ptr<ScenarioDriver> driver;
    void SetUp() override;
    void TearDown() override;
};

}  // namespace calotype_test
