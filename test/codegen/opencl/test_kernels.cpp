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
    f[(y * width) + x] = (int)((uint)t0 * (uint)2);
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

// Reverses each block by way of shared memory, of constant size or of the launch's.
void check_shared(bool dynamic) {
    Stmt body = parse_stmt(std::string(R"(
        let t = gpu_thread_index(0)
        let first = gpu_block_index(0) * 8
        allocate s[int32, )") +
                           (dynamic ? "`.shared_bytes`" : "8") + R"(] in gpu_shared
        s[t] = g[first + t]
        evaluate gpu_thread_barrier(2):int32
        f[first + t] = s[7 - t]
    )");
    DeviceModule m = one_kernel({in_buffer("g", Int(32)), out_buffer("f", Int(32))}, body);
    m.kernels[0].dynamic_shared = dynamic;
    DeviceSource source = device_source(m, Target("x86-64-linux-opencl"), Dialect::OpenCL);
    EXPECT_EQ(source.kernels[0].flags, dynamic ? unsigned(CALOTYPE_KERNEL_DYNAMIC_SHARED) : 0u);
    std::vector<int32_t> in(16);
    std::iota(in.begin(), in.end(), 0);
    std::vector<uint8_t> a = as_bytes(in), b(64);
    RawLaunch launch;
    launch.blocks[0] = 2;
    launch.threads[0] = 8;
    launch.shared_bytes = dynamic ? 32 : 0;
    ASSERT_EQ(
        test::run_opencl(source.text, "k", {RawArgument::bytes(a), RawArgument::bytes(b)}, launch),
        "")
        << source.text;
    EXPECT_EQ(as_elements<int32_t>(b),
              (std::vector<int32_t>{7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8}));
}

TEST(DeviceRun, SharedMemory) {
    NEEDS_OPENCL();
    check_shared(false);
    check_shared(true);
}

// 64 threads update four counters of each type.
TEST(DeviceRun, Atomics) {
    NEEDS_OPENCL();
    Stmt body = parse_stmt(R"(
        let i = gpu_thread_index(0) % 4
        atomic a { a[i] = a[i] + 1 }
        atomic b { b[i] = b[i]:uint8 + (uint8)1 }
        atomic c { c[i] = c[i]:float32 + 0.5f }
        atomic d { d[i] = max(d[i], gpu_thread_index(0)) }
        atomic e { e[i] = e[i]:uint16 * (uint16)3 }
    )");
    std::string text = opencl_text(
        one_kernel({out_buffer("a", Int(32)), out_buffer("b", UInt(8)), out_buffer("c", Float(32)),
                    out_buffer("d", Int(32)), out_buffer("e", UInt(16))},
                   body));
    std::vector<uint8_t> a(16), b(4), c(16), d(16), e = as_bytes(std::vector<uint16_t>(4, 1));
    RawLaunch launch;
    launch.blocks[0] = 2;
    launch.threads[0] = 32;
    ASSERT_EQ(test::run_opencl(text, "k",
                               {RawArgument::bytes(a), RawArgument::bytes(b), RawArgument::bytes(c),
                                RawArgument::bytes(d), RawArgument::bytes(e)},
                               launch),
              "")
        << text;
    EXPECT_EQ(as_elements<int32_t>(a), std::vector<int32_t>(4, 16));
    EXPECT_EQ(b, std::vector<uint8_t>(4, 16));
    EXPECT_EQ(as_elements<float>(c), std::vector<float>(4, 8.0f));
    EXPECT_EQ(as_elements<int32_t>(d), (std::vector<int32_t>{28, 29, 30, 31}));
    EXPECT_EQ(as_elements<uint16_t>(e), std::vector<uint16_t>(4, uint16_t(43046721)));
}

TEST(DeviceRun, PredicatesAndOddNames) {
    NEEDS_OPENCL();
    Stmt body = parse_stmt(R"(
        let int$x.y = 3
        let kernel = 1
        for (`for`, 0, 2) {
            f[ramp(`for` * 4, 1, 4) if ramp(`for` * 4, 1, 4) != broadcast(5, 4)] =
                g[ramp(6, -2, 4) if ramp(0, 1, 4) < broadcast(int$x.y, 4)] + broadcast(kernel, 4)
        }
    )");
    std::string text =
        opencl_text(one_kernel({in_buffer("g", Int(32)), out_buffer("f", Int(32))}, body));
    std::vector<uint8_t> a = as_bytes(std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6, 7}), b(32);
    ASSERT_EQ(test::run_opencl(text, "k", {RawArgument::bytes(a), RawArgument::bytes(b)}), "")
        << text;
    std::vector<int32_t> out = as_elements<int32_t>(b);
    EXPECT_EQ(std::vector<int32_t>(out.begin(), out.begin() + 3), (std::vector<int32_t>{7, 5, 3}));
    EXPECT_EQ(out[4], 7);
    EXPECT_EQ(out[5], 0);
    EXPECT_EQ(out[6], 3);
}

TEST(DeviceErrors, FeaturesAndLimits) {
    auto text_of = [](const char *body, Type t) {
        return opencl_text(one_kernel({out_buffer("f", t)}, parse_stmt(body)),
                           "x86-64-linux-opencl");
    };
    EXPECT_COMPILE_ERROR(text_of("f[0] = (float64)1.5", Float(64)),
                         "kernel k uses float64, which OpenCL devices need not have: add the "
                         "target feature cl_doubles, or compute in float32");
    EXPECT_COMPILE_ERROR(text_of("atomic f { f[0] = f[0]:int64 + (int64)1 }", Int(64)),
                         "kernel k updates int64 atomically, which OpenCL devices need not be able "
                         "to: add the target feature cl_atomics64");
    EXPECT_COMPILE_ERROR(text_of("f[0] = warp_shuffle(f[0], 1)", Int(32)),
                         "kernel k exchanges values within a warp, which OpenCL C cannot; use "
                         "gpu_threads in the place of gpu_lanes");
}

// Sums of data may have been put in another order; coordinates do not overflow.
TEST(DeviceText, SumsOfDataWrap) {
    const DeviceModule module = one_kernel(
        {out_buffer("f", Int(32)), scalar_arg("width", Int(32))},
        parse_stmt("let t = f[width + 1]\nf[width + 2] = t:int32 + -2147483648 + f[0]:int32"));
    const std::string text = opencl_text(module);
    EXPECT_NE(text.find("(int)((uint)(("), std::string::npos) << text;
    EXPECT_NE(text.find("width + 2"), std::string::npos) << text;
}

// fmin gives the number of a NaN and a number, wherever it stands.
TEST(DeviceText, ExtremesUnderStrictFloat) {
    const DeviceModule module =
        one_kernel({out_buffer("f", Float(32))}, parse_stmt("f[0] = min(f[0]:float32, f[1]:float32)"
                                                            " + max(f[2]:float32, f[3]:float32)"));
    const std::string fast = opencl_text(module);
    EXPECT_NE(fast.find("fmin("), std::string::npos) << fast;
    EXPECT_NE(fast.find("fmax("), std::string::npos) << fast;
    for (const std::string &strict :
         {opencl_text(module, "x86-64-linux-opencl-strict_float"),
          cuda_text(module, "x86-64-linux-cuda_capability_80-strict_float")}) {
        EXPECT_EQ(strict.find("fmin("), std::string::npos) << strict;
        EXPECT_EQ(strict.find("fmax("), std::string::npos) << strict;
        EXPECT_NE(strict.find(" ? "), std::string::npos) << strict;
    }
}

TEST(DeviceText, PrefetchesAreLeftOut) {
    const Expr fetched =
        Call::make(Int(32), Intrinsic::prefetch, {Variable::make(Handle(), "f"), 16});
    const DeviceModule module =
        one_kernel({out_buffer("f", Int(32))},
                   Block::make(Evaluate::make(fetched), parse_stmt("f[0] = f[1]:int32")));
    for (const std::string &text :
         {opencl_text(module), cuda_text(module, "x86-64-linux-cuda_capability_80")}) {
        EXPECT_EQ(text.find("prefetch"), std::string::npos) << text;
    }
}

}  // namespace
}  // namespace calotype::internal
