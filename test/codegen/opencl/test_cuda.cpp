// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CUDA C++ of kernels, compiled by NVRTC where a toolkit has it.
#include <gtest/gtest.h>

#include <dlfcn.h>

#include "codegen/opencl/kernel_text.h"
#include "harness/random_exprs.h"
#include "ir/constants.h"

namespace calotype::internal {
namespace {

/// The functions of NVRTC that are used.
struct Nvrtc {
    int (*create)(void **, const char *, const char *, int, const char **, const char **) = nullptr;
    int (*compile)(void *, int, const char **) = nullptr;
    int (*log_size)(void *, size_t *) = nullptr;
    int (*log)(void *, char *) = nullptr;
    int (*destroy)(void **) = nullptr;

    Nvrtc() {
        void *library = nullptr;
        for (const char *name : {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12",
                                 "/usr/local/cuda/lib64/libnvrtc.so"}) {
            library = library ? library : dlopen(name, RTLD_NOW);
        }
        auto find = [&](auto &f, const char *name) {
            f = library ? reinterpret_cast<std::decay_t<decltype(f)>>(dlsym(library, name))
                        : nullptr;
        };
        find(create, "nvrtcCreateProgram");
        find(compile, "nvrtcCompileProgram");
        find(log_size, "nvrtcGetProgramLogSize");
        find(log, "nvrtcGetProgramLog");
        find(destroy, "nvrtcDestroyProgram");
    }
};

/// Empty if it compiles.
std::string compile(const std::string &text) {
    static const Nvrtc nvrtc;
    void *program = nullptr;
    nvrtc.create(&program, text.c_str(), "kernels.cu", 0, nullptr, nullptr);
    const char *options[] = {"--gpu-architecture=compute_80"};
    std::string log;
    if (nvrtc.compile(program, 1, options) != 0) {
        size_t size = 0;
        nvrtc.log_size(program, &size);
        log.resize(size);
        nvrtc.log(program, log.data());
        log += text;
    }
    nvrtc.destroy(&program);
    return log;
}

#define NEEDS_NVRTC()                                                                              \
    if (!Nvrtc().destroy) {                                                                        \
        GTEST_SKIP() << "no NVRTC on this machine";                                                \
    }

TEST(CudaSource, RandomKernelsCompile) {
    NEEDS_NVRTC();
    for (uint32_t seed = 301; seed <= 304; seed++) {
        test::RandomExprs batch = test::random_exprs(seed, 40);
        std::vector<Stmt> stores;
        for (const Expr &e : batch.exprs) {
            int lanes = e.type().lanes();
            Expr index = lanes == 1 ? Expr(0) : Ramp::make(0, 1, lanes);
            stores.push_back(Store::make("out", e, index, const_true(lanes), {4096, 0}));
        }
        Stmt body = Block::make(stores);
        for (const auto &[name, value] : batch.values) {
            int lanes = value.type.lanes();
            Expr index = lanes == 1 ? Expr(0) : Ramp::make(0, 1, lanes);
            Expr load = Load::make(value.type, "g", index, const_true(lanes), {4096, 0});
            body = LetStmt::make(name, load, body);
        }
        KernelArgument in = in_buffer("g", UInt(8)), out = out_buffer("out", UInt(8));
        in.alignment = out.alignment = {128, 0};
        EXPECT_EQ(compile(cuda_text(one_kernel({in, out}, body, DeviceAPI::CUDA))), "");
    }
}

TEST(CudaSource, WhatOnlyKernelsDo) {
    NEEDS_NVRTC();
    Stmt body = parse_stmt(R"(
        let t = gpu_thread_index(0)
        allocate s[int32, 64] in gpu_shared
        evaluate gpu_async_copy(s:handle, t * 4, g:handle, t * 4, 4):int32
        evaluate gpu_async_commit():int32
        evaluate gpu_async_wait(0):int32
        evaluate gpu_thread_barrier(2):int32
        atomic f {
            f[s[t]] = f[s[t]] + 1
        }
        atomic h {
            h[t] = h[t]:float16 * (float16)2.0
        }
        f[t + 64] = warp_shuffle(s[t], 1, 3)
    )");
    std::string text = cuda_text(
        one_kernel({in_buffer("g", Int(32)), out_buffer("f", Int(32)), out_buffer("h", Float(16))},
                   body, DeviceAPI::CUDA));
    EXPECT_EQ(compile(text), "");
    EXPECT_NE(text.find("cp.async.cg.shared.global"), std::string::npos);
    EXPECT_NE(text.find("atomicAdd("), std::string::npos);
    EXPECT_NE(text.find("atomicCAS("), std::string::npos);
}

// The assembler of CUDA 13.0 loses negations in front of minima; NVRTC makes them of products too.
TEST(CudaSource, NegationsAreHidden) {
    for (const char *value : {"0 - f[1]:int32", "f[1]:int32 * -1", "-1 * f[1]:int32",
                              "f[1]:int32 * (let a = f[3]:int32 in -1)"}) {
        Stmt body = parse_stmt(std::string("f[0] = min(") + value + ", f[2]:int32)");
        std::string text = cuda_text(one_kernel({out_buffer("f", Int(32))}, body, DeviceAPI::CUDA));
        EXPECT_NE(text.find("negate((int)"), std::string::npos) << text;
    }
    Stmt body = parse_stmt("f[0] = f[1]:int32 * -2 - f[2]:int32");
    std::string text = cuda_text(one_kernel({out_buffer("f", Int(32))}, body, DeviceAPI::CUDA));
    EXPECT_EQ(text.find("negate"), std::string::npos) << text;
}

TEST(CudaSource, Shuffles) {
    Stmt body = parse_stmt(R"(
        let t = gpu_thread_index(0)
        f[t] = warp_shuffle(f[t], 3)
        g[t] = warp_shuffle(g[t]:float64, 1, 1, 16)
        h[t] = warp_shuffle(h[t]:float16, 1, 2)
        b[t] = warp_shuffle(b[t]:bool, 16, 3)
        v[ramp(t * 4, 1, 4)] = warp_shuffle(v[ramp(t * 4, 1, 4)]:int8x4, 16, 3)
    )");
    std::string text = cuda_text(
        one_kernel({out_buffer("f", Int(32)), out_buffer("g", Float(64)),
                    out_buffer("h", Float(16)), out_buffer("b", Bool()), out_buffer("v", Int(8))},
                   body, DeviceAPI::CUDA));
    EXPECT_NE(text.find("__shfl_sync(0xffffffffu, "), std::string::npos) << text;
    EXPECT_NE(text.find(", 1, 16)"), std::string::npos) << text;
    EXPECT_NE(text.find("__shfl_down_sync(0xffffffffu, "), std::string::npos) << text;
    EXPECT_NE(text.find("__shfl_xor_sync(0xffffffffu, "), std::string::npos) << text;
    NEEDS_NVRTC();
    EXPECT_EQ(compile(text), "");
}

TEST(CudaSource, StrictFloatsAreNotContracted) {
    Stmt body = parse_stmt("f[0] = strict_add(f[0]:float32 * 3.0f, f[1]:float32)");
    std::string text = cuda_text(one_kernel({out_buffer("f", Float(32))}, body, DeviceAPI::CUDA));
    EXPECT_NE(text.find("__fadd_rn("), std::string::npos) << text;
    NEEDS_NVRTC();
    EXPECT_EQ(compile(text), "");
}

}  // namespace
}  // namespace calotype::internal
