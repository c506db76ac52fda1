// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels and buffers on a real OpenCL device: PoCL on the CPU, or whatever is there.
#include "opencl_test.h"

#include <thread>

using namespace calotype_test;
using calotype::Runtime::Buffer;

namespace {

const calotype_device_interface_t *opencl() {
    return calotype_opencl_device_interface();
}

const char add_source[] = R"(
__kernel void add(__global uchar *in_base, ulong in_offset, __global uchar *out_base,
                  ulong out_offset, int added) {
    __global const int *in = (__global const int *)(in_base + in_offset);
    __global int *out = (__global int *)(out_base + out_offset);
    const int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
    out[i] = in[i] + added;
}
)";

/** Each element plus a number, in blocks of 8. */
class Add : public OneKernel {
public:
    Add() : OneKernel("add", add_source, {buffer_argument, buffer_argument, int_argument}) {
    }
};

calotype_status run_add(LoadedKernel &kernel, Buffer<int> &in, Buffer<int> &out, int added) {
    return kernel.launch({uint32_t(in.dim(0).extent() / 8), 1, 1}, {8, 1, 1},
                         {&in.raw_buffer()->device, &out.raw_buffer()->device, &added});
}

Buffer<int> counting(int size) {
    Buffer<int> buffer(size);
    for (int i = 0; i < size; i++) {
        buffer(i) = i;
    }
    buffer.set_host_dirty();
    return buffer;
}

TEST_F(RealOpenClTest, a_kernel_adds_a_number) {
    Add add;
    LoadedKernel kernel(nullptr, add);
    ASSERT_EQ(kernel.status, CALOTYPE_OK) << kernel.log.c_str();
    Buffer<int> in = counting(64), out(64);
    ASSERT_EQ(in.copy_to_device(opencl()), 0) << errors();
    ASSERT_EQ(out.device_malloc(opencl()), 0) << errors();
    ASSERT_EQ(run_add(kernel, in, out, 100), CALOTYPE_OK) << kernel.log.c_str();
    out.set_device_dirty();
    ASSERT_EQ(out.copy_to_host(), 0) << errors();
    for (int i = 0; i < 64; i++) {
        EXPECT_EQ(out(i), i + 100);
    }
    in.device_free();
    out.device_free();
}

TEST_F(RealOpenClTest, a_crop_is_an_offset_for_a_kernel) {
    Add add;
    LoadedKernel kernel(nullptr, add);
    ASSERT_EQ(kernel.status, CALOTYPE_OK) << kernel.log.c_str();
    Buffer<int> in = counting(64), out(64);
    out.fill(-1);
    ASSERT_EQ(in.copy_to_device(opencl()), 0) << errors();
    out.set_host_dirty();
    ASSERT_EQ(out.copy_to_device(opencl()), 0) << errors();
    {
        Buffer<int> part_in = in.cropped(0, 16, 8), part_out = out.cropped(0, 40, 8);
        EXPECT_EQ(calotype_opencl_get_crop_offset(nullptr, part_out), 160u);
        EXPECT_EQ(calotype_opencl_get_cl_mem(nullptr, part_out),
                  calotype_opencl_get_cl_mem(nullptr, out));
        ASSERT_EQ(run_add(kernel, part_in, part_out, 1000), CALOTYPE_OK) << kernel.log.c_str();
    }
    out.set_device_dirty();
    ASSERT_EQ(out.copy_to_host(), 0) << errors();
    for (int i = 0; i < 64; i++) {
        EXPECT_EQ(out(i), i >= 40 && i < 48 ? 1000 + i - 24 : -1) << i;
    }
    in.device_free();
    out.device_free();
}

TEST_F(RealOpenClTest, dynamic_shared_memory_is_the_last_parameter) {
    OneKernel turn("turn", R"(
__kernel void turn(__global uchar *base, ulong offset, __local ulong16 *shared) {
    __global int *data = (__global int *)(base + offset);
    __local int *kept = (__local int *)shared;
    const int i = get_local_id(0), n = get_local_size(0);
    kept[i] = data[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    data[i] = kept[n - 1 - i];
}
)",
                   {buffer_argument}, CALOTYPE_KERNEL_DYNAMIC_SHARED);
    LoadedKernel kernel(nullptr, turn);
    ASSERT_EQ(kernel.status, CALOTYPE_OK) << kernel.log.c_str();
    Buffer<int> data = counting(32);
    ASSERT_EQ(data.copy_to_device(opencl()), 0) << errors();
    ASSERT_EQ(kernel.launch({1, 1, 1}, {32, 1, 1}, {&data.raw_buffer()->device}, 128), CALOTYPE_OK)
        << kernel.log.c_str();
    data.set_device_dirty();
    ASSERT_EQ(data.copy_to_host(), 0) << errors();
    for (int i = 0; i < 32; i++) {
        EXPECT_EQ(data(i), 31 - i);
    }
    data.device_free();
}

std::string log_of_broken(const std::string &directives) {
    const std::string text = directives + "__kernel void broken() { undeclared = 1; }\n";
    OneKernel broken("broken", text, {});
    LoadedKernel kernel(nullptr, broken);
    EXPECT_EQ(kernel.status, CALOTYPE_E_COMPILE);
    return kernel.log.c_str();
}

TEST_F(RealOpenClTest, an_extension_that_the_device_has_not) {
    const std::string why = "the OpenCL C of module module does not compile: ";
    EXPECT_EQ(log_of_broken("// text\n#pragma OPENCL EXTENSION cl_khr_none_such : enable\n"),
              why + "the device has no cl_khr_none_such");
    // A part of a name, and what is not at the beginning of a line, are no names.
    EXPECT_EQ(log_of_broken("#pragma OPENCL EXTENSION cl_khr : enable\n"),
              why + "the device has no cl_khr");
    const std::string own =
        log_of_broken("// #pragma OPENCL EXTENSION cl_khr_none_such : enable\n");
    EXPECT_EQ(own.rfind(why + "clBuildProgram failed: ", 0), 0u) << own;
}

TEST_F(RealOpenClTest, what_does_not_compile_comes_with_the_log) {
    OneKernel broken("f", "__kernel void f() { this is not C; }\n", {});
    LoadedKernel kernel(nullptr, broken);
    EXPECT_EQ(kernel.status, CALOTYPE_E_COMPILE);
    const std::string log = kernel.log.c_str();
    EXPECT_EQ(log.rfind("the OpenCL C of module module does not compile: clBuildProgram failed: "
                        "CL_BUILD_PROGRAM_FAILURE (-11)\n",
                        0),
              0u)
        << log;
    EXPECT_NE(log.find("error"), std::string::npos) << log;
}

TEST_F(RealOpenClTest, boxes_of_every_shape_come_through) {
    Buffer<int> whole(40, 20, 6);
    for (int z = 0; z < 6; z++) {
        for (int y = 0; y < 20; y++) {
            for (int x = 0; x < 40; x++) {
                whole(x, y, z) = x + 100 * y + 10000 * z;
            }
        }
    }
    Buffer<int> part = whole.cropped({{3, 20}, {5, 10}, {1, 4}});
    Buffer<int> on_device(30, 30, 5);
    on_device.set_min(0, 0, 1);
    on_device.fill(-1);
    on_device.set_host_dirty();
    ASSERT_EQ(on_device.copy_to_device(opencl()), 0) << errors();
    part.set_host_dirty();
    ASSERT_EQ(calotype_buffer_copy(nullptr, part, opencl(), on_device), 0) << errors();
    ASSERT_EQ(on_device.copy_to_host(), 0) << errors();
    on_device.for_each_element([&](int x, int y, int z) {
        const bool inside = x >= 3 && x < 23 && y >= 5 && y < 15 && z >= 1 && z < 5;
        ASSERT_EQ(on_device(x, y, z), inside ? x + 100 * y + 10000 * z : -1)
            << x << ", " << y << ", " << z;
    });
    on_device.device_free();
}

TEST_F(RealOpenClTest, many_threads_launch_one_kernel) {
    Add add;
    LoadedKernel kernel(nullptr, add);
    ASSERT_EQ(kernel.status, CALOTYPE_OK) << kernel.log.c_str();
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int t = 0; t < 8; t++) {
        threads.emplace_back([&, t] {
            for (int round = 0; round < 20; round++) {
                Buffer<int> in = counting(64), out(64);
                in.copy_to_device(opencl());
                out.device_malloc(opencl());
                wrong += run_add(kernel, in, out, t * 1000 + round) == CALOTYPE_OK ? 0 : 1;
                out.set_device_dirty();
                out.copy_to_host();
                for (int i = 0; i < 64; i++) {
                    wrong += out(i) == i + t * 1000 + round ? 0 : 1;
                }
                in.device_free();
                out.device_free();
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(errors(), "");
}

}  // namespace
