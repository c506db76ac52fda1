// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a call whose kernels are loaded asks of the driver, to the last call.
#include "harness/nothing_module.h"
#include "runtime/cuda/fixture.h"

namespace {

using calotype_test::FakeCuda;

class CudaLaunch : public FakeCuda {
protected:
    calotype_test::NothingModule module;

    template<typename F>
    static Calls calls_of(F f) {
        return FakeCuda::calls_of(
            {"cuCtxGetId", "cuCtxGetCurrent", "cuCtxSetCurrent", "cuCtxPushCurrent",
             "cuCtxPopCurrent", "cuCtxGetDevice", "cuLaunchKernel", "cuStreamIsCapturing",
             "cuFuncSetAttribute", "cuFuncGetAttribute", "cuModuleLoadDataEx",
             "cuModuleGetFunction", "cuStreamSynchronize", "cuCtxSynchronize",
             "cuDevicePrimaryCtxRetain", "cuDeviceGet", "cuDeviceGetAttribute", "cuEventRecord"},
            f);
    }
};

// Also where drivers load kernels lazily, so that no launch waits for that.
TEST_F(CudaLaunch, KernelsAreLoadedWithTheirModule) {
    const auto load = [&] {
        EXPECT_EQ(0, module.call(nullptr));
    };
    EXPECT_EQ((Calls{{"cuFuncLoad", 1}, {"cuModuleLoadDataEx", 1}}),
              FakeCuda::calls_of({"cuFuncLoad", "cuModuleLoadDataEx"}, load));
    EXPECT_EQ(Calls{}, FakeCuda::calls_of({"cuFuncLoad", "cuModuleLoadDataEx"}, load));
}

TEST_F(CudaLaunch, AStreamNeedsNoCurrentContext) {
    void *context = make_context();
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, make_stream(context));
    EXPECT_EQ(0, module.call(&on));
    const Calls wanted = {{"cuCtxGetId", 1}, {"cuLaunchKernel", 1}, {"cuStreamIsCapturing", 1}};
    EXPECT_EQ(wanted, calls_of([&] { EXPECT_EQ(0, module.call(&on)); }));
    // Nor does it matter that another one is.
    void *popped = nullptr;
    EXPECT_EQ(0, cuCtxPushCurrent_v2(make_context()));
    EXPECT_EQ(wanted, calls_of([&] { EXPECT_EQ(0, module.call(&on)); }));
    EXPECT_EQ(0, cuCtxPopCurrent_v2(&popped));
}

TEST_F(CudaLaunch, OlderDriversWantTheContextOfAStreamCurrent) {
    void *context = make_context();
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, make_stream(context));
    EXPECT_EQ(0, module.call(&on));
    fake_cuda::fail("cuLaunchKernel", 201, 1, 2);
    EXPECT_EQ((Calls{{"cuCtxGetId", 1},
                     {"cuStreamIsCapturing", 2},
                     {"cuLaunchKernel", 3},
                     {"cuCtxGetCurrent", 1},
                     {"cuCtxPushCurrent", 1},
                     {"cuCtxPopCurrent", 1}}),
              calls_of([&] { EXPECT_EQ(0, module.call(&on)); }));
}

TEST_F(CudaLaunch, TheDefaultStreamIsThatOfTheCurrentContext) {
    EXPECT_EQ(0, module.call(nullptr));
    EXPECT_EQ((Calls{{"cuCtxGetId", 1},
                     {"cuLaunchKernel", 1},
                     {"cuCtxGetCurrent", 1},
                     {"cuCtxPushCurrent", 1},
                     {"cuCtxPopCurrent", 1}}),
              calls_of([&] { EXPECT_EQ(0, module.call(nullptr)); }));
    void *context = make_context(), *popped = nullptr;
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, nullptr);
    EXPECT_EQ(0, module.call(&on));
    EXPECT_EQ(0, cuCtxPushCurrent_v2(context));
    EXPECT_EQ((Calls{{"cuCtxGetId", 1}, {"cuLaunchKernel", 1}, {"cuCtxGetCurrent", 1}}),
              calls_of([&] { EXPECT_EQ(0, module.call(&on)); }));
    EXPECT_EQ(0, cuCtxPopCurrent_v2(&popped));
}

TEST_F(CudaLaunch, AHoldOfWhatIsLoadedAsksForTheIdentityAlone) {
    EXPECT_EQ(0, module.call(nullptr));
    EXPECT_EQ((Calls{{"cuCtxGetId", 1}}), calls_of([&] {
                  calotype_hold hold;
                  EXPECT_EQ(CALOTYPE_OK,
                            calotype_initialize_kernels(nullptr, &module.desc, nullptr, &hold));
                  EXPECT_EQ(CALOTYPE_OK, calotype_finalize_kernels(nullptr, &hold));
              }));
}

}  // namespace
