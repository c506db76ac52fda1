// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a call whose kernels are loaded asks of the driver, to the last call.
#include "runtime/cuda/fixture.h"

#include <map>

namespace {

using calotype_test::FakeCuda;

const char ptx[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                   ".visible .entry nothing() { ret; }\n";

/// A module of one kernel that does nothing.
struct Nothing {
    calotype_image image = {CALOTYPE_PTX, 50, 0, ptx, sizeof ptx - 1};
    calotype_kernel_desc kernel = {"nothing", nullptr, 0, 0, 0, 0};
    calotype_module_desc desc = {};

    Nothing() {
        desc.size = sizeof desc;
        desc.abi = CALOTYPE_ABI_VERSION;
        desc.name = "nothing";
        desc.uid.b[0] = 0x6e;
        desc.device_interface = calotype_cuda_device_interface;
        desc.images = &image;
        desc.n_images = 1;
        desc.kernels = &kernel;
        desc.n_kernels = 1;
    }
    /// What generated code does for a function with one kernel.
    void call(void *user_context) const {
        const int32_t shape[7] = {1, 1, 1, 1, 1, 1, 0};
        calotype_hold hold;
        EXPECT_EQ(0, calotype_begin_kernels(user_context, &desc, &hold));
        EXPECT_EQ(0, calotype_run_kernel(user_context, &hold, 0, shape, nullptr));
        calotype_end_kernels(user_context, &hold);
    }
};

class CudaLaunch : public FakeCuda {
protected:
    using Calls = std::map<std::string, long>;
    Nothing module;

    /// The calls of the driver that f makes.
    template<typename F>
    static Calls calls_of(F f) {
        static const char *const names[] = {
            "cuCtxGetId",          "cuCtxGetCurrent",      "cuCtxSetCurrent",
            "cuCtxPushCurrent",    "cuCtxPopCurrent",      "cuCtxGetDevice",
            "cuLaunchKernel",      "cuStreamIsCapturing",  "cuFuncSetAttribute",
            "cuFuncGetAttribute",  "cuModuleLoadDataEx",   "cuModuleGetFunction",
            "cuStreamSynchronize", "cuCtxSynchronize",     "cuDevicePrimaryCtxRetain",
            "cuDeviceGet",         "cuDeviceGetAttribute", "cuEventRecord"};
        Calls made;
        for (const char *name : names) {
            made[name] = -fake_cuda::calls(name);
        }
        f();
        for (const char *name : names) {
            if ((made[name] += fake_cuda::calls(name)) == 0) {
                made.erase(name);
            }
        }
        return made;
    }
};

TEST_F(CudaLaunch, AStreamNeedsNoCurrentContext) {
    void *context = make_context();
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, make_stream(context));
    module.call(&on);
    EXPECT_EQ((Calls{{"cuCtxGetId", 1}, {"cuLaunchKernel", 1}}),
              calls_of([&] { module.call(&on); }));
    // Nor does it matter that another one is.
    void *popped = nullptr;
    EXPECT_EQ(0, cuCtxPushCurrent_v2(make_context()));
    EXPECT_EQ((Calls{{"cuCtxGetId", 1}, {"cuLaunchKernel", 1}}),
              calls_of([&] { module.call(&on); }));
    EXPECT_EQ(0, cuCtxPopCurrent_v2(&popped));
}

TEST_F(CudaLaunch, OlderDriversWantTheContextOfAStreamCurrent) {
    void *context = make_context();
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, make_stream(context));
    module.call(&on);
    fake_cuda::fail("cuLaunchKernel", 201);
    EXPECT_EQ((Calls{{"cuCtxGetId", 1},
                     {"cuLaunchKernel", 2},
                     {"cuCtxGetCurrent", 1},
                     {"cuCtxPushCurrent", 1},
                     {"cuCtxPopCurrent", 1}}),
              calls_of([&] { module.call(&on); }));
}

TEST_F(CudaLaunch, TheDefaultStreamIsThatOfTheCurrentContext) {
    module.call(nullptr);
    EXPECT_EQ((Calls{{"cuCtxGetId", 1},
                     {"cuLaunchKernel", 1},
                     {"cuCtxGetCurrent", 1},
                     {"cuCtxPushCurrent", 1},
                     {"cuCtxPopCurrent", 1}}),
              calls_of([&] { module.call(nullptr); }));
    void *context = make_context(), *popped = nullptr;
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, nullptr);
    module.call(&on);
    EXPECT_EQ(0, cuCtxPushCurrent_v2(context));
    EXPECT_EQ((Calls{{"cuCtxGetId", 1}, {"cuLaunchKernel", 1}, {"cuCtxGetCurrent", 1}}),
              calls_of([&] { module.call(&on); }));
    EXPECT_EQ(0, cuCtxPopCurrent_v2(&popped));
}

TEST_F(CudaLaunch, AHoldOfWhatIsLoadedAsksForTheIdentityAlone) {
    module.call(nullptr);
    EXPECT_EQ((Calls{{"cuCtxGetId", 1}}), calls_of([&] {
                  calotype_hold hold;
                  EXPECT_EQ(CALOTYPE_OK,
                            calotype_initialize_kernels(nullptr, &module.desc, nullptr, &hold));
                  EXPECT_EQ(CALOTYPE_OK, calotype_finalize_kernels(nullptr, &hold));
              }));
}

}  // namespace
