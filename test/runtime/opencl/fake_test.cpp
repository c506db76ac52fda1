// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What cannot be had from a real driver: failures, devices by choice, contexts that end, counts.
#include "opencl_test.h"

#include <atomic>
#include <thread>

using namespace calotype_test;
using namespace calotype::runtime;
using calotype::Runtime::Buffer;

namespace {

const calotype_device_interface_t *opencl() {
    return calotype_opencl_device_interface();
}

std::string explanation() {
    char text[512];
    calotype_opencl_explain(text, sizeof text);
    return text;
}

TEST_F(FakeOpenClTest, without_a_library_the_error_names_it) {
    EXPECT_NE(calotype_opencl_set_driver_library("/nowhere/libOpenCL.so"), 0);
    EXPECT_FALSE(calotype_opencl_can_run());
    EXPECT_EQ(explanation(), "cannot load the OpenCL library /nowhere/libOpenCL.so, which "
                             "calotype_opencl_set_driver_library names");
    Buffer<int> buffer(4);
    EXPECT_NE(buffer.device_malloc(opencl()), 0);
    EXPECT_NE(errors().find("/nowhere/libOpenCL.so"), std::string::npos);
}

TEST_F(FakeOpenClTest, a_library_that_is_something_else_lacks_functions) {
    EXPECT_NE(calotype_opencl_set_driver_library("libm.so.6"), 0);
    EXPECT_EQ(explanation(),
              "the OpenCL library has no function clGetPlatformIDs; OpenCL 1.2 is needed");
}

TEST_F(FakeOpenClTest, without_a_library_the_program_itself_is_searched) {
    static std::string asked;
    asked.clear();
    calotype_set_custom_load_library([](const char *) -> void * { return nullptr; });
    calotype_set_custom_get_library_symbol([](void *library, const char *name) -> void * {
        asked += (library ? "library " : "program ") + std::string(name) + ";";
        return nullptr;
    });
    EXPECT_NE(calotype_opencl_set_driver_library(nullptr), 0);
    EXPECT_EQ(explanation(), "OpenCL API not found: libOpenCL.so.1 cannot be loaded");
    EXPECT_EQ(asked.find("program clGetPlatformIDs;"), 0u) << asked;
    EXPECT_EQ(asked.find("library"), std::string::npos) << asked;
    calotype_set_custom_load_library(nullptr);
    calotype_set_custom_get_library_symbol(nullptr);
}

TEST_F(FakeOpenClTest, each_way_to_have_no_device_has_its_own_words) {
    fake().set_devices(false, 0, 0);
    EXPECT_EQ(explanation(), "no OpenCL device here: the OpenCL library knows no platform");
    fake().set_devices(true, 0, 1);
    EXPECT_EQ(explanation(), "");
    calotype_opencl_set_device_type("gpu");
    EXPECT_EQ(explanation(), "no OpenCL device here of type gpu, on 1 platforms");
    calotype_opencl_set_device_type("gpu,acc,quantum");
    EXPECT_EQ(explanation(), "the OpenCL device type \"gpu,acc,quantum\" is none of cpu, gpu, acc "
                             "and all, with commas between");
    calotype_opencl_set_device_type("all");
    calotype_opencl_set_platform_name("Vidia");
    EXPECT_EQ(explanation(), "no OpenCL platform here has \"Vidia\" in its name, of 1");
    calotype_opencl_set_platform_name("Fake");
    calotype_set_gpu_device(3);
    EXPECT_EQ(explanation(), "device 3 is chosen, but there is one OpenCL device, number 0");
}

TEST_F(FakeOpenClTest, gpus_come_first) {
    fake().set_devices(true, 2, 1);
    const auto tools = [](int device) {
        calotype_set_gpu_device(device);
        DeviceScope scope = {};
        DeviceArch arch = {};
        EXPECT_EQ(backend().acquire(nullptr, &scope), CALOTYPE_OK);
        EXPECT_EQ(scope.device, device < 0 ? 0 : device);
        backend().describe(scope, &arch);
        backend().release(scope);
        calotype_device_release(nullptr, opencl());
        return std::string(arch.toolchain);
    };
    EXPECT_EQ(tools(-1), "OpenCL 3.0 Fake, Fake GPU 0, driver 1.0");
    EXPECT_EQ(tools(1), "OpenCL 3.0 Fake, Fake GPU 1, driver 1.0");
    EXPECT_EQ(tools(2), "OpenCL 3.0 Fake, Fake CPU 0, driver 1.0");
    calotype_opencl_set_device_type("cpu");
    EXPECT_EQ(tools(-1), "OpenCL 3.0 Fake, Fake CPU 0, driver 1.0");
    calotype_opencl_set_build_options("-cl-mad-enable");
    EXPECT_EQ(tools(-1), "OpenCL 3.0 Fake, Fake CPU 0, driver 1.0, -cl-mad-enable");
}

TEST_F(FakeOpenClTest, long_options_are_told_apart_in_the_toolchain) {
    DeviceScope scope = {};
    ASSERT_EQ(backend().acquire(nullptr, &scope), CALOTYPE_OK);
    std::vector<std::string> texts;
    for (const char last : {'a', 'b'}) {
        calotype_opencl_set_build_options((std::string(200, 'x') + last).c_str());
        DeviceArch arch = {};
        backend().describe(scope, &arch);
        texts.push_back(arch.toolchain);
        EXPECT_EQ(texts.back().size(), sizeof arch.toolchain - 1);
    }
    EXPECT_NE(texts[0], texts[1]);
    backend().release(scope);
}

TEST_F(FakeOpenClTest, a_context_is_made_once_and_known_again) {
    DeviceScope first = {}, second = {};
    ASSERT_EQ(backend().acquire(nullptr, &first), CALOTYPE_OK);
    ASSERT_EQ(backend().acquire(nullptr, &second), CALOTYPE_OK);
    EXPECT_EQ(first.context_uid, second.context_uid);
    EXPECT_TRUE(backend().is_alive(first.context_uid));
    EXPECT_EQ(fake().calls("clCreateContext"), 1u);
    EXPECT_EQ(fake().calls("clGetCommandQueueInfo"), 1u);
    backend().release(first);
    backend().release(second);
    calotype_device_release(nullptr, opencl());
    EXPECT_FALSE(backend().is_alive(first.context_uid));
    EXPECT_EQ(fake().live("context"), 0);
}

TEST_F(FakeOpenClTest, threads_that_start_together_make_one_context) {
    fake().delay("clCreateContext", 20);
    std::vector<std::thread> threads;
    std::atomic<uint64_t> ids[8] = {};
    for (auto &id : ids) {
        threads.emplace_back([&id] {
            DeviceScope scope = {};
            backend().acquire(nullptr, &scope);
            id = scope.context_uid;
            backend().release(scope);
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    for (const auto &id : ids) {
        EXPECT_EQ(id, ids[0]);
    }
    EXPECT_EQ(fake().calls("clCreateContext"), 1u);
}

TEST_F(FakeOpenClTest, a_new_context_at_the_same_address_is_another_one) {
    for (const int version : {3, 1}) {
        fake().set_version(version);
        OwnContext own;
        const cl_context address = own.context;
        const uint64_t id = own.uid();
        EXPECT_EQ(own.uid(), id);
        own.end();
        if (version == 1) {
            // No one tells.
            EXPECT_TRUE(backend().is_alive(id));
            backend().end_context(id, false);
        }
        EXPECT_FALSE(backend().is_alive(id));
        OwnContext next;
        ASSERT_EQ(next.context, address);
        EXPECT_NE(next.uid(), id);
        const uint64_t next_id = next.uid();
        next.end();
        backend().end_context(next_id, false);
    }
}

TEST_F(FakeOpenClTest, a_device_context_without_a_queue_is_refused) {
    OwnContext own;
    own.as_user_context.stream = nullptr;
    Buffer<int> buffer(4);
    EXPECT_NE(buffer.device_malloc(opencl(), &own.as_user_context), 0);
    EXPECT_NE(errors().find("the calotype_device_context of an OpenCL call has no queue"),
              std::string::npos);
    own.end();
}

/// Only the device has the elements then.
void leave_on_device(Buffer<int> &buffer) {
    memset(buffer.data(), 0, buffer.size_in_bytes());
    buffer.set_device_dirty();
}

int sum_of(Buffer<int> &buffer) {
    int sum = 0;
    buffer.for_each_value([&](int value) { sum += value; });
    return sum;
}

TEST_F(FakeOpenClTest, a_buffer_of_another_context_moves) {
    OwnContext own;
    for (const calotype_device_interface_t *kind :
         {opencl(), calotype_opencl_image_device_interface()}) {
        Buffer<int> buffer(4, 3);
        buffer.fill(1);
        ASSERT_EQ(buffer.copy_to_device(kind), 0);
        leave_on_device(buffer);
        ASSERT_EQ(buffer.copy_to_device(kind, &own.as_user_context), 0) << errors();
        EXPECT_EQ(fake().live("mem"), 1);
        ASSERT_EQ(buffer.copy_to_host(&own.as_user_context), 0);
        EXPECT_EQ(sum_of(buffer), 12);
        // Back, with what the host has meanwhile.
        buffer.fill(2);
        ASSERT_EQ(buffer.copy_to_device(kind), 0);
        leave_on_device(buffer);
        // To the host from where it is, whatever the call works in.
        ASSERT_EQ(buffer.copy_to_host(&own.as_user_context), 0);
        EXPECT_EQ(sum_of(buffer), 24);
        EXPECT_EQ(buffer.device_free(), 0);
    }
    const uint64_t id = own.uid();
    own.end();
    EXPECT_FALSE(backend().is_alive(id));
}

TEST_F(FakeOpenClTest, buffers_of_two_contexts_are_copied_by_way_of_the_host) {
    OwnContext own;
    Buffer<int> a(8), b(8);
    a.fill(3);
    ASSERT_EQ(a.copy_to_device(opencl(), &own.as_user_context), 0);
    leave_on_device(a);
    ASSERT_EQ(calotype_buffer_copy(nullptr, a, opencl(), b), 0) << errors();
    ASSERT_EQ(b.copy_to_host(), 0);
    EXPECT_EQ(sum_of(b), 24);
    a.set_device_dirty(false);
    EXPECT_EQ(a.device_free(), 0);
    EXPECT_EQ(b.device_free(), 0);
    own.end();
}

TEST_F(FakeOpenClTest, a_part_of_a_buffer_of_another_context_is_refused) {
    OwnContext own;
    Buffer<int> buffer(4);
    buffer.fill(1);
    buffer.set_host_dirty();
    ASSERT_EQ(buffer.copy_to_device(opencl()), 0);
    {
        Buffer<int> part = buffer.cropped(0, 1, 2);
        part.set_host_dirty();
        EXPECT_NE(part.copy_to_device(opencl(), &own.as_user_context), 0);
        EXPECT_NE(errors().find("the buffer is in another OpenCL context than that of the call; it "
                                "is a part of a buffer or the application's, so it is not moved"),
                  std::string::npos);
    }
    buffer.device_free();
    own.end();
}

int acquires = 0, releases = 0;
OwnContext *offered = nullptr;

TEST_F(FakeOpenClTest, the_application_can_choose_the_context) {
    OwnContext own;
    offered = &own;
    acquires = releases = 0;
    calotype_set_acquire_cl_context(
        [](void *, _cl_context **context, _cl_command_queue **queue, bool) {
            acquires++;
            *context = offered->context;
            *queue = offered->queue;
            return 0;
        });
    calotype_set_release_cl_context([](void *) { return ++releases, 0; });
    {
        Buffer<int> buffer(4);
        ASSERT_EQ(buffer.device_malloc(opencl()), 0) << errors();
        EXPECT_EQ(buffer.device_free(), 0);
    }
    EXPECT_GE(acquires, 1);
    EXPECT_EQ(acquires, releases);
    EXPECT_EQ(fake().calls("clCreateContext"), 1u) << "the application's own";
    calotype_set_acquire_cl_context(
        [](void *, _cl_context **, _cl_command_queue **, bool) { return -7; });
    Buffer<int> buffer(4);
    EXPECT_NE(buffer.device_malloc(opencl()), 0);
    EXPECT_NE(errors().find("calotype_acquire_cl_context answered the error code -7"),
              std::string::npos);
    calotype_set_acquire_cl_context(nullptr);
    calotype_set_release_cl_context(nullptr);
    own.end();
}

TEST_F(FakeOpenClTest, what_the_driver_answers_is_in_the_one_report) {
    Buffer<int> buffer(1000);
    fake().fail("clCreateBuffer", -5, 1, 2);
    EXPECT_EQ(buffer.device_malloc(opencl()), calotype_error_code_device_malloc_failed);
    EXPECT_EQ(reported_errors().size(), 1u);
    EXPECT_NE(errors().find("clCreateBuffer failed: CL_OUT_OF_RESOURCES (-5) for 4000 bytes"),
              std::string::npos);
    fake().fail("clCreateContext", -2, 1, 1);
    calotype_device_release(nullptr, opencl());
    EXPECT_NE(buffer.device_malloc(opencl()), 0);
    EXPECT_NE(errors().find("clCreateContext failed: CL_DEVICE_NOT_AVAILABLE (-2)"),
              std::string::npos);
    fake().fail("clCreateCommandQueue", -6, 1, 1);
    EXPECT_NE(buffer.device_malloc(opencl()), 0);
    EXPECT_NE(errors().find("clCreateCommandQueue failed: CL_OUT_OF_HOST_MEMORY (-6)"),
              std::string::npos);
    EXPECT_EQ(fake().live("context"), 0);
}

TEST_F(FakeOpenClTest, copies_that_fail_leave_the_dirty_bits) {
    Buffer<int> buffer(100);
    buffer.fill(3);
    ASSERT_EQ(buffer.device_malloc(opencl()), 0);
    buffer.set_host_dirty();
    fake().fail("clEnqueueWriteBuffer", -5, 1, 1);
    EXPECT_EQ(buffer.copy_to_device(opencl()), calotype_error_code_copy_to_device_failed);
    EXPECT_TRUE(buffer.host_dirty());
    fake().fail("clFinish", -36, 1, 1);
    EXPECT_EQ(buffer.copy_to_device(opencl()), calotype_error_code_copy_to_device_failed);
    EXPECT_NE(errors().find("clFinish failed: CL_INVALID_COMMAND_QUEUE (-36)"), std::string::npos);
    EXPECT_EQ(buffer.copy_to_device(opencl()), 0);
    EXPECT_FALSE(buffer.host_dirty());
    buffer.device_free();
}

TEST_F(FakeOpenClTest, boxes_are_one_call) {
    Buffer<int> whole(40, 20, 6);
    whole.for_each_element([&](int x, int y, int z) { whole(x, y, z) = x + 100 * y + 10000 * z; });
    Buffer<int> part = whole.cropped({{3, 20}, {5, 10}, {1, 4}});
    part.set_host_dirty();
    ASSERT_EQ(part.copy_to_device(opencl()), 0) << errors();
    EXPECT_EQ(fake().calls("clEnqueueWriteBufferRect"), 1u);
    Buffer<int> back(20, 10, 4);
    back.set_min(3, 5, 1);
    part.set_device_dirty();
    ASSERT_EQ(calotype_buffer_copy(nullptr, part, nullptr, back), 0) << errors();
    EXPECT_EQ(fake().calls("clEnqueueReadBufferRect"), 1u);
    back.for_each_element(
        [&](int x, int y, int z) { ASSERT_EQ(back(x, y, z), x + 100 * y + 10000 * z); });
    Buffer<int> other(20, 10, 4);
    other.set_min(3, 5, 1);
    ASSERT_EQ(calotype_buffer_copy(nullptr, part, opencl(), other), 0) << errors();
    EXPECT_EQ(fake().calls("clEnqueueCopyBufferRect"), 1u);
    ASSERT_EQ(other.copy_to_host(), 0) << errors();
    EXPECT_EQ(other(10, 9, 3), 10 + 900 + 30000);
    part.set_device_dirty(false);
    part.device_free();
    other.device_free();
}

TEST_F(FakeOpenClTest, slices_and_crops_share_the_memory) {
    Buffer<int> whole(8, 8, 8);
    whole.for_each_element([&](int x, int y, int z) { whole(x, y, z) = x + 10 * y + 100 * z; });
    whole.set_host_dirty();
    ASSERT_EQ(whole.copy_to_device(opencl()), 0);
    {
        Buffer<int> slice = whole.sliced(2, 5);
        EXPECT_EQ(calotype_opencl_get_crop_offset(nullptr, slice), 4u * 64 * 5);
        Buffer<int> crop = slice.cropped(1, 3, 2);
        EXPECT_EQ(calotype_opencl_get_crop_offset(nullptr, crop), 4u * (64 * 5 + 8 * 3));
        Buffer<int> copy(8, 2);
        copy.set_min(0, 3);
        crop.set_device_dirty();
        ASSERT_EQ(calotype_buffer_copy(nullptr, crop, nullptr, copy), 0) << errors();
        EXPECT_EQ(copy(7, 4), 7 + 40 + 500);
        crop.set_device_dirty(false);
    }
    EXPECT_EQ(fake().live("mem"), 1);
    whole.device_free();
}

TEST_F(FakeOpenClTest, memory_of_the_application_is_wrapped_not_owned) {
    OwnContext own;
    void *user_context = &own.as_user_context;
    cl_int error = 0;
    cl_mem mem = fake_function<cl_mem(cl_context, cl_bitfield, size_t, void *, cl_int *)>(
        "clCreateBuffer")(own.context, CL_MEM_READ_WRITE, 40, nullptr, &error);
    const auto handle = uint64_t(reinterpret_cast<uintptr_t>(mem));
    Buffer<int> buffer(10), large(11);
    ASSERT_EQ(calotype_opencl_wrap_cl_mem(user_context, buffer, handle), 0) << errors();
    EXPECT_EQ(calotype_opencl_get_cl_mem(user_context, buffer), handle);
    EXPECT_EQ(calotype_opencl_detach_cl_mem(user_context, buffer), 0);
    EXPECT_EQ(calotype_opencl_get_cl_mem(user_context, buffer), 0u);
    EXPECT_NE(calotype_opencl_wrap_cl_mem(user_context, large, handle), 0);
    EXPECT_NE(errors().find("the memory object has 40 bytes, the buffer 44"), std::string::npos);
    EXPECT_NE(calotype_opencl_wrap_cl_mem(user_context, buffer, 0), 0);
    EXPECT_EQ(fake().live("mem"), 1);
    fake_function<cl_int(cl_mem)>("clReleaseMemObject")(mem);
    own.end();
}

TEST_F(FakeOpenClTest, freed_memory_is_kept_and_used_again) {
    ASSERT_EQ(calotype_reuse_device_allocations(nullptr, true), 0);
    const auto use = [](int size) {
        Buffer<int> buffer(size);
        EXPECT_EQ(buffer.device_malloc(opencl()), 0);
        EXPECT_EQ(buffer.device_free(), 0);
    };
    use(100);
    use(100);
    EXPECT_EQ(fake().calls("clCreateBuffer"), 1u);
    use(101);
    EXPECT_EQ(fake().calls("clCreateBuffer"), 2u);
    EXPECT_EQ(fake().live("mem"), 2);
    // What is kept is given up before an allocation fails.
    fake().set_memory(1000);
    use(200);
    EXPECT_EQ(fake().live("mem"), 1);
    EXPECT_EQ(calotype_reuse_device_allocations(nullptr, false), 0);
    EXPECT_EQ(fake().live("mem"), 0);
}

TEST_F(FakeOpenClTest, a_box_that_a_driver_refuses_is_copied_with_the_last_row_apart) {
    Buffer<int> whole(6, 4, 3);
    whole.for_each_element([&](int x, int y, int z) { whole(x, y, z) = x + 10 * y + 100 * z; });
    Buffer<int> part = whole.cropped({{1, 4}, {1, 3}, {0, 3}});
    part.set_host_dirty();
    fake().fail("clEnqueueWriteBufferRect", CL_INVALID_VALUE, 1, 1);
    ASSERT_EQ(part.copy_to_device(opencl()), 0) << errors();
    // The box; its first slices, and the first rows of the last one.
    EXPECT_EQ(fake().calls("clEnqueueWriteBufferRect"), 3u);
    EXPECT_EQ(fake().calls("clEnqueueWriteBuffer"), 1u);
    Buffer<int> back(4, 3, 3);
    back.set_min(1, 1, 0);
    part.set_device_dirty();
    ASSERT_EQ(calotype_buffer_copy(nullptr, part, opencl(), back), 0) << errors();
    ASSERT_EQ(back.copy_to_host(), 0);
    back.for_each_element(
        [&](int x, int y, int z) { ASSERT_EQ(back(x, y, z), x + 10 * y + 100 * z); });
    // Where that is refused, too, row by row.
    part.set_device_dirty(false);
    part.set_host_dirty();
    fake().fail("clEnqueueWriteBufferRect", CL_INVALID_VALUE, 1, 2);
    ASSERT_EQ(part.copy_to_device(opencl()), 0) << errors();
    EXPECT_EQ(fake().calls("clEnqueueWriteBufferRect"), 5u);
    EXPECT_EQ(fake().calls("clEnqueueWriteBuffer"), 10u);
    part.set_host_dirty();
    fake().fail("clEnqueueWriteBufferRect", CL_INVALID_VALUE, 1, 2);
    fake().fail("clEnqueueWriteBuffer", CL_INVALID_VALUE, 3, 1);
    EXPECT_EQ(part.copy_to_device(opencl()), calotype_error_code_copy_to_device_failed);
    EXPECT_EQ(errors(), "copy to the device failed: copying boxes to, from or between OpenCL "
                        "buffers failed: CL_INVALID_VALUE (-30) for 144 bytes on OpenCL 3.0 Fake, "
                        "Fake GPU 0, driver 1.0\n");
    EXPECT_EQ(fake().calls("clEnqueueWriteBuffer"), 13u);
    part.device_free();
    back.device_free();
}

TEST_F(FakeOpenClTest, host_and_device_memory_in_one_go) {
    calotype_dimension_t shape(0, 10, 1);
    calotype_buffer_t buffer = {};
    buffer.type = calotype_type_of<int>();
    buffer.dimensions = 1;
    buffer.dim = &shape;
    ASSERT_EQ(calotype_device_and_host_malloc(nullptr, &buffer, opencl()), 0);
    EXPECT_NE(buffer.host, nullptr);
    EXPECT_EQ(fake().live("mem"), 1);
    EXPECT_EQ(calotype_device_and_host_free(nullptr, &buffer), 0);
    EXPECT_EQ(buffer.host, nullptr);
    EXPECT_EQ(fake().live("mem"), 0);
}

const char scale_source[] =
    "__kernel void scale(__global uchar *data, ulong offset, int by) {} // max_group=64\n";

/** Multiplies the elements, as a function of the host. */
void scale(const FakeLaunch &launch) {
    uint64_t offset = 0;
    int by = 0;
    memcpy(&offset, launch.args[1].value, sizeof offset);
    memcpy(&by, launch.args[2].value, sizeof by);
    int *data = reinterpret_cast<int *>(static_cast<char *>(launch.args[0].memory) + offset);
    for (uint32_t i = 0; i < launch.grid[0] * launch.block[0]; i++) {
        data[i] *= by;
    }
}

class Scale : public OneKernel {
public:
    Scale() : OneKernel("scale", scale_source, {buffer_argument, int_argument}) {
        fake().add_kernel("scale", scale);
    }
};

TEST_F(FakeOpenClTest, launches_are_checked_before_the_driver_sees_them) {
    Scale module;
    LoadedKernel kernel(nullptr, module);
    ASSERT_EQ(kernel.status, CALOTYPE_OK) << kernel.log.c_str();
    uint64_t nothing = 0;
    int by = 2;
    const auto refusal = [&](std::vector<uint32_t> block, uint32_t shared) {
        EXPECT_EQ(kernel.launch({1, 1, 1}, block, {&nothing, &by}, shared), CALOTYPE_E_LAUNCH);
        return kernel.log;
    };
    EXPECT_EQ(refusal({1, 1, 65}, 0),
              "kernel scale: the block's extent in z is 65, the device allows 64");
    EXPECT_EQ(refusal({1024, 2, 1}, 0),
              "kernel scale: the number of threads in a block is 2048, the device allows 1024");
    EXPECT_EQ(refusal({1, 1, 1}, 16),
              "kernel scale takes no dynamic shared memory, 16 bytes were asked for");
    EXPECT_EQ(fake().calls("clEnqueueNDRangeKernel"), 0u);
}

// Of kernels whose groups have no size in the source, NVIDIA's driver states 256, and runs 1024.
TEST_F(FakeOpenClTest, the_driver_decides_about_groups_larger_than_it_states) {
    static int runs;
    runs = 0;
    fake().add_kernel("f", [](const FakeLaunch &) { runs++; });
    OneKernel module("f", "__kernel void f() {} // stated_group=32 max_group=64\n", {});
    LoadedKernel kernel(nullptr, module);
    ASSERT_EQ(kernel.status, CALOTYPE_OK) << kernel.log.c_str();
    EXPECT_EQ(kernel.launch({1, 1, 1}, {64, 1, 1}, {}), CALOTYPE_OK) << kernel.log.c_str();
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(kernel.launch({1, 1, 1}, {13, 5, 1}, {}), CALOTYPE_E_LAUNCH);
    EXPECT_EQ(kernel.log,
              "kernel f: the number of threads in a block is 65, the driver vouches for 32 of this "
              "kernel: clEnqueueNDRangeKernel failed: CL_INVALID_WORK_GROUP_SIZE (-54)");
}

TEST_F(FakeOpenClTest, shared_memory_is_limited_by_the_device) {
    OneKernel module("f", "__kernel void f(__local uchar *shared) {}\n", {},
                     CALOTYPE_KERNEL_DYNAMIC_SHARED);
    LoadedKernel kernel(nullptr, module);
    ASSERT_EQ(kernel.status, CALOTYPE_OK) << kernel.log.c_str();
    EXPECT_EQ(kernel.launch({1, 1, 1}, {1, 1, 1}, {}, 49153), CALOTYPE_E_LAUNCH);
    EXPECT_STREQ(kernel.log.c_str(), "kernel f: the shared memory of a block in bytes is 49153, "
                                     "the device allows 49152");
    EXPECT_EQ(kernel.launch({1, 1, 1}, {1, 1, 1}, {}, 49152), CALOTYPE_OK);
    EXPECT_EQ(kernel.launch({1, 1, 1}, {1, 1, 1}, {}, 0), CALOTYPE_OK);
}

TEST_F(FakeOpenClTest, a_description_that_does_not_fit_is_refused) {
    OneKernel module("f", "__kernel void f(int a, int b, int c) {}\n", {int_argument});
    LoadedKernel kernel(nullptr, module);
    int value = 1;
    EXPECT_EQ(kernel.launch({1, 1, 1}, {1, 1, 1}, {&value}), CALOTYPE_E_INVALID);
    EXPECT_STREQ(kernel.log.c_str(), "kernel f has 3 parameters, its description asks for 1");
}

TEST_F(FakeOpenClTest, failures_of_a_launch_name_kernel_and_parameter) {
    Scale module;
    LoadedKernel kernel(nullptr, module);
    Buffer<int> data(8);
    data.fill(5);
    data.set_host_dirty();
    ASSERT_EQ(data.copy_to_device(opencl()), 0);
    int by = 3;
    const auto launch = [&] {
        return kernel.launch({1, 1, 1}, {8, 1, 1}, {&data.raw_buffer()->device, &by});
    };
    fake().fail("clSetKernelArg", -51, 3, 1);
    EXPECT_EQ(launch(), CALOTYPE_E_LAUNCH);
    EXPECT_STREQ(kernel.log.c_str(), "kernel scale, parameter 2 of 4 bytes: clSetKernelArg failed: "
                                     "CL_INVALID_ARG_SIZE (-51)");
    fake().fail("clEnqueueNDRangeKernel", -5, 1, 1);
    EXPECT_EQ(launch(), CALOTYPE_E_LAUNCH) << "no memory is asked for";
    EXPECT_STREQ(kernel.log.c_str(), "kernel scale: clEnqueueNDRangeKernel failed: "
                                     "CL_OUT_OF_RESOURCES (-5)");
    EXPECT_EQ(kernel.driver_result, -5);
    EXPECT_EQ(launch(), CALOTYPE_OK);
    data.set_device_dirty();
    ASSERT_EQ(data.copy_to_host(), 0);
    EXPECT_EQ(data(7), 15);
    data.device_free();
}

TEST_F(FakeOpenClTest, kernel_objects_are_made_once_a_thread_and_never_shared) {
    Scale module;
    LoadedKernel kernel(nullptr, module);
    std::vector<std::thread> threads;
    std::atomic<int> failures{0};
    for (int t = 0; t < 8; t++) {
        threads.emplace_back([&] {
            Buffer<int> data(8);
            data.device_malloc(opencl());
            int by = 1;
            for (int i = 0; i < 200; i++) {
                failures += kernel.launch({1, 1, 1}, {8, 1, 1},
                                          {&data.raw_buffer()->device, &by}) == CALOTYPE_OK
                                ? 0
                                : 1;
            }
            data.device_free();
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    EXPECT_EQ(failures, 0);
    EXPECT_EQ(fake().calls("clEnqueueNDRangeKernel"), 1600u);
    EXPECT_LE(fake().calls("clCreateKernel"), 9u);
}

TEST_F(FakeOpenClTest, what_does_not_compile_has_the_log) {
    OneKernel module("f", "#error no such thing\n__kernel void f() {}\n", {});
    calotype_opencl_set_build_options("-w");
    LoadedKernel kernel(nullptr, module);
    EXPECT_EQ(kernel.status, CALOTYPE_E_COMPILE);
    EXPECT_STREQ(kernel.log.c_str(),
                 "the OpenCL C of module module does not compile with the options \"-w\": "
                 "clBuildProgram failed: CL_BUILD_PROGRAM_FAILURE (-11)\n"
                 "fake.cl:1: error no such thing");
    EXPECT_STREQ(fake().build_options(), "-w");
}

TEST_F(FakeOpenClTest, a_kernel_that_is_missing_is_named) {
    OneKernel module("g", "__kernel void f() {}\n", {});
    LoadedKernel kernel(nullptr, module);
    EXPECT_EQ(kernel.status, CALOTYPE_E_LOAD);
    EXPECT_STREQ(kernel.log.c_str(),
                 "kernel g: clCreateKernel failed: CL_INVALID_KERNEL_NAME (-46)");
}

TEST_F(FakeOpenClTest, a_binary_that_the_driver_does_not_take_is_compiled_anew) {
    Scale module;
    fake().fail("clCreateProgramWithBinary", -42, 1, 1);
    LoadedKernel kernel(nullptr, module);
    EXPECT_EQ(kernel.status, CALOTYPE_OK) << kernel.log.c_str();
    EXPECT_EQ(fake().calls("clCreateProgramWithSource"), 2u);
}

TEST_F(FakeOpenClTest, a_module_without_opencl_c_is_no_module_for_opencl) {
    Scale module;
    calotype_image ptx = {CALOTYPE_PTX, 90, 0, ".version 7.0", 12};
    calotype_module_desc desc = module.desc();
    desc.images = &ptx;
    DeviceScope scope = {};
    ASSERT_EQ(backend().acquire(nullptr, &scope), CALOTYPE_OK);
    LoadableImage image = {};
    DeviceArch arch = {};
    FailureScope failures;
    EXPECT_EQ(backend().build(scope, arch, desc, &image), CALOTYPE_E_NO_IMAGE);
    EXPECT_STREQ(failure_text(), "module module has no OpenCL C among its 1 images");
    backend().release(scope);
}

TEST_F(FakeOpenClTest, linkables_are_compiled_with_the_module) {
    Scale module;
    const char helper_source[] = "int helper() { return 1; }\n";
    calotype_image text = {CALOTYPE_OPENCL_C, 0, 0, helper_source, sizeof helper_source - 1};
    calotype_linkable_desc helper = {};
    helper.size = sizeof helper;
    helper.name = "helper";
    helper.images = &text;
    helper.n_images = 1;
    const calotype_linkable_desc *linkables[] = {&helper};
    calotype_module_desc desc = module.desc();
    desc.linkables = linkables;
    desc.n_linkables = 1;
    DeviceScope scope = {};
    ASSERT_EQ(backend().acquire(nullptr, &scope), CALOTYPE_OK);
    DeviceArch arch = {};
    LoadableImage image = {};
    FailureScope failures;
    ASSERT_EQ(backend().build(scope, arch, desc, &image), CALOTYPE_OK) << failure_text();
    EXPECT_TRUE(image.was_linked);
    const std::string bytes(static_cast<const char *>(image.bytes), image.size);
    EXPECT_NE(bytes.find(std::string(helper_source) + scale_source), std::string::npos);
    free(const_cast<void *>(image.bytes));
    text.kind = CALOTYPE_CUBIN;
    EXPECT_EQ(backend().build(scope, arch, desc, &image), CALOTYPE_E_LINK);
    EXPECT_STREQ(failure_text(), "linkable helper of module module has no OpenCL C; OpenCL takes "
                                 "linkables in no other form");
    backend().release(scope);
}

TEST_F(FakeOpenClTest, events_tell_when_a_queue_has_come_so_far) {
    OwnContext own;
    DeviceScope scope = {};
    ASSERT_EQ(backend().acquire(&own.as_user_context, &scope), CALOTYPE_OK);
    void *event = nullptr;
    fake().block_queue(own.queue, true);
    ASSERT_EQ(backend().record_event(scope, nullptr, &event), CALOTYPE_OK);
    EXPECT_EQ(backend().query_event(event), CALOTYPE_E_BUSY);
    fake().block_queue(own.queue, false);
    EXPECT_EQ(backend().query_event(event), CALOTYPE_OK);
    backend().destroy_event(event);
    backend().release(scope);
    own.end();
}

}  // namespace
