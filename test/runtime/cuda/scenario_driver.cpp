// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The scenarios of the kernel cache on the fake CUDA driver, whose own linker makes the images.
#include <cstdlib>

#include "runtime/cache/scenario_fixture.h"
#include "runtime/cuda/fixture.h"

namespace calotype_test {

namespace {

/// What a kernel of the scenarios does.
void read_kernel(const FakeLaunch &launch) {
    *static_cast<int32_t *const *>(launch.args[0].value)[0] =
        *static_cast<int32_t *>(fake_cuda::global("value"));
}

class FakeCudaDriver : public ScenarioDriver {
    std::vector<std::unique_ptr<calotype_device_context>> contexts;

    static void *context_of(void *user_context) {
        return static_cast<calotype_device_context *>(user_context)->context;
    }
    static void *new_context() {
        void *context = nullptr, *popped = nullptr;
        EXPECT_EQ(0, cuCtxCreate_v2(&context, 0, 0));
        EXPECT_EQ(0, cuCtxPopCurrent_v2(&popped));
        return context;
    }

public:
    FakeCudaDriver() {
        setenv("CT_NVJITLINK", "off", 1);
        fake_cuda::reset();
        EXPECT_EQ(0, calotype_cuda_set_driver_library(CALOTYPE_FAKE_CUDA));
        fake_cuda::define_kernel("read", read_kernel);
    }
    ~FakeCudaDriver() override {
        EXPECT_EQ(0, fake_cuda::current_depth());
        EXPECT_EQ(0, fake_cuda::live_events());
        fake_cuda::reset();
        unsetenv("CT_NVJITLINK");
    }
    const calotype_device_interface_t *(*device_interface())() override {
        return calotype_cuda_device_interface;
    }
    void *make_context() override {
        contexts.push_back(std::make_unique<calotype_device_context>(
            CALOTYPE_DEVICE_CONTEXT(new_context(), nullptr)));
        return contexts.back().get();
    }
    void destroy_context(void *context) override {
        EXPECT_EQ(0, cuCtxDestroy_v2(context_of(context)));
    }
    bool replace_context(void *context) override {
        destroy_context(context);
        EXPECT_EQ(context_of(context), new_context());
        return true;
    }
    ScenarioImage image(const ScenarioCode &code) override {
        std::string text = ".version 6.0\n.target sm_50\n.address_size 64\n// " + code.name +
                           "\n.visible .entry k0() { ret; }\n";
        if (code.reads_global) {
            text += ".visible .global .align 4 .b32 value;\n"
                    ".visible .entry read(.param .u64 out) { ret; }\n";
        }
        return {CALOTYPE_PTX, 50, text + (code.is_broken ? "syntax error\n" : "")};
    }
    bool set_architecture(int sm) override {
        fake_cuda::set_compute_capability(0, sm / 10, sm % 10);
        return calotype_cuda_set_driver_library(CALOTYPE_FAKE_CUDA) == 0;
    }
    void fail_loads(int times, bool out_of_memory) override {
        fake_cuda::fail("cuModuleLoadDataEx", out_of_memory ? 2 : 200, 1, times);
    }
    void fail_some_loads(int one_in) override {
        fake_cuda::fail_some("cuModuleLoadDataEx", 200, one_in);
    }
    void delay_builds(int ms) override {
        fake_cuda::delay("cuLinkComplete", ms);
    }
    int is_current(void *context) override {
        return fake_cuda::current_context() == context_of(context);
    }
    bool hold_stream(void *context, bool hold) override {
        if (hold) {
            fake_cuda::hold_stream(context_of(context), nullptr);
        } else {
            fake_cuda::release_stream(context_of(context), nullptr);
        }
        return true;
    }
    void *stream_of(void *) override {
        return nullptr;
    }
    int live_modules() override {
        return fake_cuda::live_modules();
    }
    int misuse() override {
        return fake_cuda::misuse();
    }
};

std::unique_ptr<ScenarioDriver> make_fake_cuda_driver() {
    return std::make_unique<FakeCudaDriver>();
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(FakeCuda, Scenario, ::testing::Values(make_fake_cuda_driver));

}  // namespace calotype_test
