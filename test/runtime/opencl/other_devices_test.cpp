// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A calotype_device_context that says it is another device's is not taken for OpenCL's.
#include "opencl_test.h"

#include "runtime/abi/runtime_cuda.h"

using namespace calotype_test;
using calotype::Runtime::Buffer;

namespace {

class OtherDevices : public FakeOpenClTest {
protected:
    int not_opencl[2] = {};
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(not_opencl, not_opencl + 1);

    OtherDevices() {
        on.device_interface = calotype_cuda_device_interface();
    }
};

TEST_F(OtherDevices, calls_in_a_context_of_cuda_are_refused) {
    Buffer<int> buffer(4);
    EXPECT_NE(buffer.device_malloc(calotype_opencl_device_interface(), &on), 0);
    EXPECT_EQ(errors(), "device allocation failed: the context of the call is not one of OpenCL\n");
    OneKernel kernel("k", "__kernel void k(int a) {}", {int_argument});
    calotype_hold held;
    EXPECT_EQ(calotype_initialize_kernels(&on, &kernel.desc(), nullptr, &held), CALOTYPE_E_INVALID);
    EXPECT_STREQ(calotype_last_error()->log, "the context of the call is not one of OpenCL");
}

TEST_F(OtherDevices, what_is_asked_of_all_devices_is_not_asked_of_opencl) {
    OneKernel kernel("k", "__kernel void k(int a) {}", {int_argument});
    calotype_hold held;
    ASSERT_EQ(calotype_initialize_kernels(nullptr, &kernel.desc(), nullptr, &held), CALOTYPE_OK);
    ASSERT_EQ(calotype_finalize_kernels(nullptr, &held), CALOTYPE_OK);
    uint64_t freed = 7;
    EXPECT_EQ(calotype_release_context(&on, CALOTYPE_REL_BUSY, 0), CALOTYPE_E_INVALID);
    EXPECT_EQ(calotype_trim(&on, 0, &freed), CALOTYPE_E_INVALID);
    on.stream = nullptr;
    EXPECT_EQ(calotype_release_context(&on, CALOTYPE_REL_BUSY, 0), CALOTYPE_E_INVALID);
    EXPECT_EQ(fake().live("program"), 1);
}

TEST_F(OtherDevices, both_interfaces_of_opencl_are_its_own) {
    struct _cl_context *context = nullptr;
    struct _cl_command_queue *queue = nullptr;
    ASSERT_EQ(calotype_acquire_cl_context(nullptr, &context, &queue, true), 0);
    on.context = context;
    on.stream = queue;
    for (const auto *device :
         {calotype_opencl_device_interface(), calotype_opencl_image_device_interface()}) {
        on.device_interface = device;
        Buffer<int> buffer(4);
        EXPECT_EQ(buffer.device_malloc(calotype_opencl_device_interface(), &on), 0);
        EXPECT_EQ(buffer.device_free(&on), 0);
    }
    EXPECT_EQ(calotype_release_cl_context(nullptr), 0);
}

}  // namespace
