// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel that accesses what it may not, after which the driver refuses all calls in the context;
// and drivers that are not ready yet.

#include "harness/nothing_module.h"
#include "runtime/cuda/fixture.h"

namespace {

using calotype_test::FakeCuda;
using calotype_test::Ints;

struct Told {
    int setups = 0, teardowns = 0;
    const void *module = nullptr;
    calotype_reason reason = CALOTYPE_R_LOAD;
} told;

class CudaFailedContext : public FakeCuda {
protected:
    calotype_test::NothingModule module;
    calotype_linkable_desc linkable = {};
    const calotype_linkable_desc *linkables[1] = {&linkable};

    CudaFailedContext() {
        told = {};
        linkable.size = sizeof linkable;
        linkable.name = "state";
        linkable.content.b[0] = 1;
        linkable.setup = [](const calotype_callback_args *) {
            return told.setups++, 0;
        };
        linkable.teardown = [](const calotype_callback_args *args) {
            told.teardowns++;
            told.module = args->module;
            told.reason = args->reason;
            return 0;
        };
        module.desc.linkables = linkables;
        module.desc.n_linkables = 1;
    }
    ~CudaFailedContext() override {
        EXPECT_EQ(told.setups, told.teardowns);
        calotype_device_release(nullptr, cuda());
        fake_cuda::reset();  // the driver takes no memory back that is a failed context's
    }
    /// As a pipeline that has launched the kernel finds out.
    void find_out(void *user_context) {
        Ints a(4);
        ASSERT_EQ(0, calotype_device_malloc(user_context, &a.buf, cuda()));
        fake_cuda::break_context(broken);
        a.buf.set_device_dirty();
        EXPECT_NE(0, calotype_copy_to_host(user_context, &a.buf));
        EXPECT_NE(std::string::npos, errors.take().find("CUDA error (700)"));
        a.buf.set_device_dirty(false);
        calotype_device_free(user_context, &a.buf);
        errors.take();
    }
    void expect_refusal(void *user_context) {
        calotype_hold hold = {};
        EXPECT_EQ(CALOTYPE_E_CONTEXT_LOST,
                  calotype_initialize_kernels(user_context, &module.desc, nullptr, &hold));
        EXPECT_STREQ("a kernel or the device has failed, after which the driver refuses all calls "
                     "in the context: release it and make another one",
                     calotype_last_error()->log);
    }
    void expect_teardown_without_module() {
        EXPECT_EQ(1, told.teardowns);
        EXPECT_EQ(nullptr, told.module);
        EXPECT_EQ(CALOTYPE_R_CONTEXT_LOST, told.reason);
        EXPECT_EQ(0, fake_cuda::calls("cuModuleUnload"));
    }
    void *broken = nullptr;
};

TEST_F(CudaFailedContext, OfTheApplicationIsReleasedAndMadeAnew) {
    broken = make_context();
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(broken, nullptr);
    EXPECT_EQ(0, module.call(&on));
    EXPECT_EQ(0, module.call(&on));
    find_out(&on);
    expect_refusal(&on);
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(&on, CALOTYPE_REL_BUSY, 0))
        << calotype_last_error()->log;
    expect_teardown_without_module();
    EXPECT_EQ(0, cuCtxDestroy_v2(broken));
    calotype_device_context next = CALOTYPE_DEVICE_CONTEXT(make_context(), nullptr);
    EXPECT_EQ(0, module.call(&next));
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(&next, CALOTYPE_REL_BUSY, 0));
}

TEST_F(CudaFailedContext, TheDefaultOneIsGivenBackWithItsDevice) {
    EXPECT_EQ(0, module.call(nullptr));
    EXPECT_EQ(0, cuDevicePrimaryCtxRetain(&broken, 0));
    EXPECT_EQ(0, cuDevicePrimaryCtxRelease_v2(0));
    find_out(nullptr);
    expect_refusal(nullptr);
    calotype_device_release(nullptr, cuda());
    EXPECT_EQ(0u, errors.count());
    expect_teardown_without_module();
    EXPECT_EQ(0, fake_cuda::primary_retains(0));
    EXPECT_EQ(0, module.call(nullptr));
    EXPECT_EQ(2, told.setups);
    calotype_device_release(nullptr, cuda());
}

TEST_F(CudaFailedContext, IsNoticedByALaunchOrByTheReleaseItself) {
    for (const bool launches : {true, false}) {
        told = {};
        broken = make_context();
        calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(broken, nullptr);
        EXPECT_EQ(0, module.call(&on));
        fake_cuda::break_context(broken);
        if (launches) {
            EXPECT_NE(0, module.call(&on));
            EXPECT_NE(std::string::npos, errors.take().find("CUDA error (700)"));
            expect_refusal(&on);
        }
        EXPECT_EQ(CALOTYPE_OK, calotype_release_context(&on, CALOTYPE_REL_BUSY, 0));
        expect_teardown_without_module();
        EXPECT_EQ(0, cuCtxDestroy_v2(broken));
    }
}

TEST_F(CudaFailedContext, OthersGoOn) {
    broken = make_context();
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(broken, nullptr);
    calotype_device_context other = CALOTYPE_DEVICE_CONTEXT(make_context(), nullptr);
    EXPECT_EQ(0, module.call(&on));
    EXPECT_EQ(0, module.call(&other));
    find_out(&on);
    expect_refusal(&on);
    EXPECT_EQ(0, module.call(&other));
    for (calotype_device_context *context : {&on, &other}) {
        EXPECT_EQ(CALOTYPE_OK, calotype_release_context(context, CALOTYPE_REL_BUSY, 0));
        EXPECT_EQ(0, cuCtxDestroy_v2(context->context));
    }
}

TEST_F(CudaFailedContext, ADriverThatIsNotReadyIsAskedAgain) {
    const long before = fake_cuda::calls("cuInit");
    fake_cuda::fail("cuInit", 802, 1, 2);
    EXPECT_NE(0, start());
    Ints a(4);
    EXPECT_NE(0, calotype_device_malloc(nullptr, &a.buf, cuda()));
    EXPECT_EQ("device allocation failed: the CUDA driver does not start: "
              "CUDA_ERROR_SYSTEM_NOT_READY (802), system not yet initialized",
              errors.take());
    EXPECT_EQ(0, calotype_device_malloc(nullptr, &a.buf, cuda()));
    EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
    EXPECT_EQ(before + 3, fake_cuda::calls("cuInit"));
}

}  // namespace
