// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Images in kernels, as text.
#include <gtest/gtest.h>

#include "codegen/opencl/kernel_text.h"
#include "harness/expect_error.h"

namespace calotype::internal {
namespace {

KernelArgument image(const std::string &name, int dimensions, bool written) {
    KernelArgument a = written ? out_buffer(name, Int(32)) : in_buffer(name, Int(32));
    a.memory = MemoryType::GPUTexture;
    a.dimensions = dimensions;
    return a;
}

TEST(DeviceImages, loads_of_one_two_and_three_dimensions) {
    const Stmt body = parse_stmt(R"(
        let x = gpu_thread_index(0)
        evaluate image_store(o:handle, x, x * 2, image_load(a:handle, x):int32, true):int32
        evaluate image_store(u:handle, x, image_load(b:handle, x, 7):uint32 + (uint32)1, x < 3):int32
        evaluate image_store(v:handle, x, 1, 2, image_load(c:handle, x, 2, 3):float32, true):int32
    )");
    EXPECT_EQ(
        opencl_text(one_kernel({image("a", 1, false), image("b", 2, false), image("c", 3, false),
                                image("o", 2, true), image("u", 1, true), image("v", 3, true)},
                               body)),
        R"(// OpenCL C of test
#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable

__constant sampler_t ct_sampler =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

__kernel void k(__read_only image1d_t a, __read_only image2d_t b, __read_only image3d_t c, __write_only image2d_t o, __write_only image1d_t u, __write_only image3d_t v) {
    const int x = (int)get_local_id(0);
    const int t0 = read_imagei(a, ct_sampler, x).x;
    const int t1 = x * 2;
    write_imagei(o, (int2)(x, t1), (int4)(t0, 0, 0, 0));
    const bool t2 = x < 3;
    const uint t3 = read_imageui(b, ct_sampler, (int2)(x, 7)).x;
    const uint t4 = t3 + 1u;
    if (t2) { write_imageui(u, x, (uint4)(t4, 0, 0, 0)); }
    const float t5 = read_imagef(c, ct_sampler, (int4)(x, 2, 3, 0)).x;
    write_imagef(v, (int4)(x, 1, 2, 0), (float4)(t5, 0, 0, 0));
}
)");
}

TEST(DeviceImages, vectors_lane_by_lane) {
    const Stmt body = parse_stmt(R"(
        let x = gpu_thread_index(0)
        evaluate image_store(o:handle, ramp(x, 1, 2), broadcast(x, 2), image_load(a:handle, ramp(x, 3, 2)):int32x2, ramp(x, 1, 2) < broadcast(5, 2)):int32
    )");
    EXPECT_EQ(opencl_text(one_kernel({image("a", 1, false), image("o", 2, true)}, body)),
              R"(// OpenCL C of test

__constant sampler_t ct_sampler =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

__kernel void k(__read_only image1d_t a, __write_only image2d_t o) {
    const int x = (int)get_local_id(0);
    const int2 t1 = (int2)(0, 1);
    const int2 t2 = ((int2)(1)) * t1;
    const int2 t3 = ((int2)(x)) + t2;
    const char2 t4 = convert_char2(t3 < ((int2)(5)));
    const int2 t5 = (int2)((read_imagei(a, ct_sampler, x).x), (read_imagei(a, ct_sampler, x + 3 * 1).x));
    if ((t4.s0 != 0)) { write_imagei(o, (int2)(x, x), (int4)(t5.s0, 0, 0, 0)); }
    if ((t4.s1 != 0)) { write_imagei(o, (int2)(x + 1, x), (int4)(t5.s1, 0, 0, 0)); }
}
)");
}

TEST(DeviceImages, cuda_has_none) {
    const Stmt body = parse_stmt("evaluate image_store(o:handle, 1, 2, true):int32");
    EXPECT_COMPILE_ERROR(cuda_text(one_kernel({image("o", 1, true)}, body, DeviceAPI::CUDA)),
                         "kernel k reads or writes o as an image, which CUDA C++ code cannot do");
}

}  // namespace
}  // namespace calotype::internal
