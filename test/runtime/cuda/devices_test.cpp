// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One buffer on devices of several kinds in one process: CUDA, OpenCL, and OpenCL's images. It goes
// by way of the host, and no more is copied than the dirty bits ask for.
#include "fixture.h"

#include "harness/cache_stats.h"
#include "harness/fake_opencl/fake_opencl.h"
#include "harness/nothing_module.h"
#include "runtime/abi/runtime_opencl.h"
#include "runtime/buffer.h"

namespace {

using calotype::Runtime::Buffer;
using calotype_test::fake_opencl;

class Devices : public calotype_test::FakeCuda {
protected:
    Devices() {
        opencl_driver().reset();
        EXPECT_EQ(0, calotype_opencl_set_driver_library(FAKE_OPENCL_LIBRARY));
        for (int i = 0; i < 12; i++) {
            data[i] = 100 + i;
        }
    }
    ~Devices() override {
        calotype_device_release(nullptr, calotype_opencl_device_interface());
        EXPECT_EQ(0, opencl_driver().live(nullptr));
        EXPECT_EQ(0, opencl_driver().misuses());
        calotype_opencl_set_driver_library(nullptr);
    }
    static const calotype_test::FakeOpenClControl &opencl_driver() {
        return fake_opencl(FAKE_OPENCL_LIBRARY);
    }

    /// How often memory of each kind was read and written.
    struct Copies {
        long cuda_in, cuda_out, opencl_in, opencl_out, image_in, image_out;
        bool operator==(const Copies &) const = default;
    };
    static Copies copies() {
        const auto calls = [](const char *function) {
            return long(opencl_driver().calls(function));
        };
        return {fake_cuda::calls("cuMemcpyHtoDAsync"), fake_cuda::calls("cuMemcpyDtoHAsync"),
                calls("clEnqueueWriteBuffer"),         calls("clEnqueueReadBuffer"),
                calls("clEnqueueWriteImage"),          calls("clEnqueueReadImage")};
    }
    /// As if a kernel had written what the device has: the host's copy is spoiled.
    void spoil_host() {
        for (int &value : data) {
            value = -1;
        }
        buffer.set_device_dirty();
    }
    void expect_data(const char *where) {
        for (int i = 0; i < 12; i++) {
            EXPECT_EQ(100 + i, data[i]) << where;
        }
    }
    int go_to(const calotype_device_interface_t *device) {
        return calotype_copy_to_device(nullptr, buffer, device);
    }

    int data[12];
    Buffer<int> buffer{data, 4, 3};
    const calotype_device_interface_t *opencl = calotype_opencl_device_interface();
    const calotype_device_interface_t *images = calotype_opencl_image_device_interface();
};

TEST_F(Devices, what_the_host_knows_is_not_read_back) {
    buffer.set_host_dirty();
    ASSERT_EQ(0, go_to(cuda()));
    EXPECT_EQ(copies(), (Copies{1, 0, 0, 0, 0, 0}));
    ASSERT_EQ(0, go_to(opencl));
    EXPECT_EQ(0, fake_cuda::live_allocations());
    EXPECT_EQ(copies(), (Copies{1, 0, 1, 0, 0, 0}));
    ASSERT_EQ(0, go_to(images));
    EXPECT_EQ(copies(), (Copies{1, 0, 1, 0, 1, 0}));
    EXPECT_EQ(1, opencl_driver().live("mem"));
    ASSERT_EQ(0, go_to(images));
    ASSERT_EQ(0, go_to(cuda()));
    EXPECT_EQ(copies(), (Copies{2, 0, 1, 0, 1, 0}));
    EXPECT_EQ(0, opencl_driver().live("mem"));
    EXPECT_EQ(0, buffer.device_free());
}

TEST_F(Devices, what_a_device_has_written_goes_by_the_host) {
    buffer.set_host_dirty();
    ASSERT_EQ(0, go_to(cuda()));
    spoil_host();
    ASSERT_EQ(0, go_to(opencl));
    expect_data("from CUDA");
    EXPECT_EQ(copies(), (Copies{1, 1, 1, 0, 0, 0}));
    spoil_host();
    ASSERT_EQ(0, go_to(images));
    expect_data("from OpenCL");
    EXPECT_EQ(copies(), (Copies{1, 1, 1, 1, 1, 0}));
    spoil_host();
    ASSERT_EQ(0, go_to(cuda()));
    expect_data("from an image");
    EXPECT_EQ(copies(), (Copies{2, 1, 1, 1, 1, 1}));
    spoil_host();
    EXPECT_EQ(0, buffer.copy_to_host());
    expect_data("from CUDA again");
    EXPECT_EQ(0, buffer.device_free());
}

TEST_F(Devices, copies_between_buffers_on_different_devices_go_by_the_host) {
    buffer.set_host_dirty();
    ASSERT_EQ(0, go_to(cuda()));
    spoil_host();
    for (const auto *device : {opencl, images}) {
        Buffer<int> other(4, 3);
        EXPECT_EQ(0, calotype_buffer_copy(nullptr, buffer, device, other));
        EXPECT_TRUE(other.device_dirty());
        EXPECT_EQ(0, other.copy_to_host());
        other.for_each_element([&](int x, int y) { EXPECT_EQ(100 + x + 4 * y, other(x, y)); });
        EXPECT_EQ(0, other.device_free());
    }
    expect_data("on the way");
    // The source was brought to the host once, and is where it was.
    EXPECT_EQ(copies(), (Copies{1, 1, 1, 1, 1, 1}));
    EXPECT_FALSE(buffer.device_dirty());
    EXPECT_EQ(1, fake_cuda::live_allocations());
    EXPECT_EQ(0, buffer.device_free());
}

TEST_F(Devices, a_failure_on_the_way_leaves_it_where_it_was) {
    buffer.set_host_dirty();
    ASSERT_EQ(0, go_to(opencl));
    spoil_host();
    opencl_driver().fail("clEnqueueReadBuffer", -5, 1, 1);
    EXPECT_EQ(calotype_error_code_copy_to_host_failed, go_to(cuda()));
    EXPECT_EQ("copy to the host failed: copying to, from or between OpenCL buffers failed: "
              "CL_OUT_OF_RESOURCES (-5) for 48 bytes on OpenCL 3.0 Fake, Fake GPU 0, driver 1.0",
              errors.take());
    EXPECT_TRUE(buffer.device_dirty());
    ASSERT_EQ(0, go_to(cuda()));
    expect_data("the second time");
    EXPECT_EQ(0, buffer.device_free());
}

TEST_F(Devices, without_host_memory_there_is_no_way_and_nothing_is_lost) {
    buffer.set_host_dirty();
    ASSERT_EQ(0, go_to(cuda()));
    calotype_buffer_t *raw = buffer.raw_buffer();
    uint8_t *host = raw->host;
    for (const bool dirty : {false, true}) {
        raw->host = nullptr;
        raw->set_device_dirty(dirty);
        EXPECT_EQ(calotype_error_code_copy_to_host_failed, go_to(opencl));
        EXPECT_EQ("copy to the host failed: the buffer has no host memory, by which it would go to "
                  "another device",
                  errors.take());
        EXPECT_EQ(cuda(), raw->device_interface);
        raw->host = host;
    }
    spoil_host();
    EXPECT_EQ(0, buffer.copy_to_host());
    expect_data("still on CUDA");
    EXPECT_EQ(0, buffer.device_free());
}

TEST_F(Devices, two_of_opencl_have_contexts_of_their_own) {
    opencl_driver().set_devices(true, 2, 0);
    // CUDA has but one device, with a module that the release of OpenCL's leaves alone.
    const calotype_test::NothingModule module;
    calotype_set_gpu_device(0);
    EXPECT_EQ(0, module.call(nullptr));
    buffer.set_host_dirty();
    ASSERT_EQ(0, go_to(opencl));
    spoil_host();
    calotype_set_gpu_device(1);
    ASSERT_EQ(0, buffer.copy_to_host()) << errors.take();
    expect_data("from the first device");
    // It goes to the other by itself, also if the host has not seen what it has.
    buffer.set_device_dirty();
    ASSERT_EQ(0, go_to(opencl)) << errors.take();
    spoil_host();
    ASSERT_EQ(0, buffer.copy_to_host());
    expect_data("moved");
    ASSERT_EQ(0, buffer.device_free());
    calotype_set_gpu_device(1);
    buffer.set_host_dirty();
    ASSERT_EQ(0, go_to(images));
    spoil_host();
    ASSERT_EQ(0, buffer.copy_to_host());
    expect_data("from the second device");
    EXPECT_EQ(2, opencl_driver().live("context"));
    EXPECT_EQ(0, buffer.device_free());
    calotype_device_release(nullptr, opencl);
    EXPECT_EQ(1, opencl_driver().live("context"));
    EXPECT_EQ(1u, calotype_test::cache_stats().live_modules);
    calotype_set_gpu_device(0);
}

}  // namespace
