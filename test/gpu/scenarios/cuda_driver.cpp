// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The scenarios of the kernel cache on the CUDA driver of this machine, of which some calls fail or
// take long when a scenario asks for it.
#include <atomic>
#include <cstdlib>

#include <unistd.h>

#include "gpu/scenarios/driver_functions.h"
#include "gpu/scenarios/faults.h"
#include "harness/on_context.h"
#include "runtime/abi/device_context.h"
#include "runtime/abi/kernel_cache.h"
#include "runtime/abi/runtime_cuda.h"
#include "runtime/cache/scenario_fixture.h"

namespace calotype_test {

namespace {

/// Keeps a stream waiting, though not for ever if a scenario is stuck.
void wait_for_go(void *go) {
    const auto &flag = *static_cast<std::atomic<bool> *>(go);
    for (int ms = 0; !flag && ms < 10000; ms++) {
        usleep(1000);
    }
}

class CudaDriver : public ScenarioDriver {
    const CudaFunctions &cuda = cuda_functions();
    std::vector<std::unique_ptr<calotype_device_context>> contexts;
    std::atomic<bool> go{false};

    static calotype_device_context &at(void *user_context) {
        return *static_cast<calotype_device_context *>(user_context);
    }
    void open(calotype_device_context &made) const {
        void *popped = nullptr;
        EXPECT_EQ(0, cuda.ctx_create(&made.context, 0, 0));
        EXPECT_EQ(0, cuda.stream_create(&made.stream, 0));
        EXPECT_EQ(0, cuda.ctx_pop(&popped));
    }

public:
    CudaDriver() {
        setenv("CT_NVJITLINK", "off", 1);
        EXPECT_EQ(0, put_faults_before_driver());
    }
    ~CudaDriver() override {
        for (const auto &context : contexts) {
            if (context->context) {
                destroy_context(context.get());
            }
        }
        driver_faults().reset();
        unsetenv("CT_NVJITLINK");
    }
    const calotype_device_interface_t *(*device_interface())() override {
        return calotype_cuda_device_interface;
    }
    void *make_context() override {
        contexts.push_back(
            std::make_unique<calotype_device_context>(CALOTYPE_DEVICE_CONTEXT(nullptr, nullptr)));
        open(*contexts.back());
        return contexts.back().get();
    }
    void destroy_context(void *user_context) override {
        EXPECT_EQ(0, cuda.ctx_destroy(at(user_context).context));
        at(user_context).context = nullptr;
    }
    bool replace_context(void *user_context) override {
        void *const address = at(user_context).context;
        uint64_t uid = 0;
        EXPECT_EQ(CALOTYPE_OK,
                  calotype_context_uid(on(user_context), calotype_cuda_device_interface(), &uid));
        destroy_context(user_context);
        std::vector<calotype_device_context> others;
        bool is_replaced = false;
        for (int i = 0; i < 64 && !is_replaced; i++) {
            calotype_device_context made = CALOTYPE_DEVICE_CONTEXT(nullptr, nullptr);
            open(made);
            is_replaced = made.context == address;
            (is_replaced ? at(user_context) : others.emplace_back()) = made;
        }
        for (calotype_device_context &other : others) {
            destroy_context(&other);
        }
        if (!is_replaced) {
            EXPECT_EQ(CALOTYPE_OK, calotype_context_lost(uid));
        }
        return is_replaced;
    }
    ScenarioImage image(const ScenarioCode &code) override {
        std::string text = ".version 7.0\n.target sm_70\n.address_size 64\n// " + code.name +
                           "\n.visible .entry k0() { ret; }\n";
        if (code.reads_global) {
            text += R"(.visible .global .align 4 .b32 value;
.visible .entry read(.param .u64 out) {
    .reg .b64 %address<2>;
    .reg .b32 %value;
    ld.param.u64 %address0, [out];
    cvta.to.global.u64 %address1, %address0;
    ld.global.u32 %value, [value];
    st.global.u32 [%address1], %value;
    ret;
}
)";
        }
        return {CALOTYPE_PTX, 70, text + (code.is_broken ? "syntax error\n" : "")};
    }
    void fail_loads(int times, bool out_of_memory) override {
        driver_faults().fail("cuModuleLoadDataEx", out_of_memory ? 2 : 200, 1, times);
    }
    void fail_some_loads(int one_in) override {
        driver_faults().fail_every("cuModuleLoadDataEx", 200, one_in);
    }
    void delay_builds(int ms) override {
        driver_faults().delay("cuLinkComplete", ms);
    }
    bool survives_fork() override {
        return false;
    }
    ScenarioScale scale() override {
        return {12, 60, 600, 100};
    }
    int is_current(void *user_context) override {
        void *current = nullptr;
        EXPECT_EQ(0, cuda.ctx_current(&current));
        return current == at(user_context).context;
    }
    int read_global(void *user_context, const calotype_hold &hold, uint32_t kernel) override {
        void *popped = nullptr;
        uint64_t memory = 0;
        int32_t value = -1;
        EXPECT_EQ(0, cuda.ctx_push(at(user_context).context));
        EXPECT_EQ(0, cuda.alloc(&memory, sizeof value));
        void *args[] = {&memory};
        const uint32_t one[3] = {1, 1, 1};
        EXPECT_EQ(CALOTYPE_OK,
                  calotype_launch(user_context, hold, kernel, one, one, 0, nullptr, args));
        EXPECT_EQ(0, cuda.stream_sync(at(user_context).stream));
        EXPECT_EQ(0, cuda.to_host(&value, memory, sizeof value));
        EXPECT_EQ(0, cuda.free(memory));
        EXPECT_EQ(0, cuda.ctx_pop(&popped));
        return value;
    }
    bool hold_stream(void *user_context, bool hold) override {
        void *const stream = at(user_context).stream;
        go = !hold;
        EXPECT_EQ(0, hold ? cuda.call_host(stream, wait_for_go, &go) : cuda.stream_sync(stream));
        return true;
    }
    void *stream_of(void *user_context) override {
        return at(user_context).stream;
    }
    int live_modules() override {
        return -1;
    }
};

std::unique_ptr<ScenarioDriver> make_cuda_driver() {
    return std::make_unique<CudaDriver>();
}

/// None on a machine without a driver.
std::vector<MakeScenarioDriver> drivers() {
    return std::vector<MakeScenarioDriver>(cuda_functions().is_there ? 1 : 0, make_cuda_driver);
}

}  // namespace

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Scenario);
INSTANTIATE_TEST_SUITE_P(Cuda, Scenario, ::testing::ValuesIn(drivers()));

}  // namespace calotype_test
