// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels as text, and run on a device: grids, shared memory, atomics, loops, memory.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "codegen/opencl/kernel_text.h"
#include "codegen/opencl/raw_opencl.h"
#include "harness/expect_error.h"

namespace calotype::internal {
namespace {

using test::RawArgument;
using test::RawLaunch;

template<typename T>
std::vector<uint8_t> as_bytes(const std::vector<T> &v) {
    auto *p = reinterpret_cast<const uint8_t *>(v.data());
    return std::vector<uint8_t>(p, p + v.size() * sizeof(T));
}

template<typename T>
std::vector<T> as_elements(const std::vector<uint8_t> &v) {
    std::vector<T> r(v.size() / sizeof(T));
    std::memcpy(r.data(), v.data(), r.size() * sizeof(T));
    return r;
}

const char *const twice = R"(
    let x = gpu_block_index(0) * 4 + gpu_thread_index(0)
    let y = gpu_block_index(1)
    f[y * width + x] = g[y * width + x] * 2
)";

DeviceModule twice_module() {
    DeviceModule m = one_kernel(
        {out_buffer("f", Int(32)), in_buffer("g", Int(32)), scalar_arg("width", Int(32))},
        parse_stmt(twice));
    m.kernels[0].block_size[0] = 4;
    m.kernels[0].block_size[1] = m.kernels[0].block_size[2] = 1;
    return m;
}

TEST(DeviceText, OpenCL) {
    EXPECT_EQ(opencl_text(twice_module()), R"(// OpenCL C of test

__kernel __attribute__((reqd_work_group_size(4, 1, 1))) void k(__global uchar *f_base, ulong f_offset, __global uchar *g_base, ulong g_offset, int width_arg) {
    __global int *restrict f = (__global int *)(f_base + f_offset);
    __global const int *restrict g = (__global const int *)(g_base + g_offset);
    const int width = width_arg;
    const int x = (((int)get_group_id(0)) * 4) + ((int)get_local_id(0));
    const int y = (int)get_group_id(1);
    const int t0 = g[(y * width) + x];
    f[(y * width) + x] = t0 * 2;
}
)");
}

TEST(DeviceText, Cuda) {
    std::string text = cuda_text(twice_module());
    EXPECT_NE(text.find("extern \"C\" __global__ void __launch_bounds__(4) k(int *__restrict__ f, "
                        "const int *__restrict__ g, int width_arg) {"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("(int)blockIdx.y"), std::string::npos);
}

TEST(DeviceText, IsTheSameTwice) {
    EXPECT_EQ(opencl_text(twice_module()), opencl_text(twice_module()));
}

#define NEEDS_OPENCL()                                                                             \
    if (!test::have_opencl()) {                                                                    \
        GTEST_SKIP() << "no OpenCL device on this machine";                                        \
    }

TEST(DeviceRun, GridOfBlocks) {
    NEEDS_OPENCL();
    std::vector<int32_t> in(24);
    std::iota(in.begin(), in.end(), -5);
    std::vector<uint8_t> a = as_bytes(in), b(24 * 4 + 8);
    RawLaunch launch;
    launch.blocks[0] = 2;
    launch.blocks[1] = 3;
    launch.threads[0] = 4;
    ASSERT_EQ(test::run_opencl(
                  opencl_text(twice_module()), "k",
                  {RawArgument::bytes(b, 8), RawArgument::bytes(a), RawArgument::value<int32_t>(8)},
                  launch),
              "");
    std::vector<int32_t> out = as_elements<int32_t>(b);
    for (size_t i = 0; i < in.size(); i++) {
        EXPECT_EQ(out[i + 2], in[i] * 2);
    }
}

}  // namespace
}  // namespace calotype::internal
