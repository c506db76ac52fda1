// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A bound on how many blocks run at once is one on the registers of a kernel and of all it calls.
// Code that is linked was not compiled for it, so kernels that call such code have none.
#include <gtest/gtest.h>

#include "codegen/linkables/linked.h"
#include "ir/parser.h"

namespace calotype::internal {
namespace {

constexpr const char *sm_90 = "x86-64-linux-cuda-cuda_capability_90";

/// int rng_next(int, int) with more values at once than a thread of four blocks of 128 has registers.
LinkableData greedy_library() {
    constexpr int n = 200;
    std::string text = R"(.version 8.0
.target sm_80
.address_size 64
.visible .func (.param .b32 result) rng_next(.param .b32 a, .param .b32 b)
{
    .reg .b32 %v<)" + std::to_string(n) +
                       R"(>;
    .reg .b32 %sum, %other;
    ld.param.b32 %v0, [a];
    ld.param.b32 %v1, [b];
)";
    const auto v = [](int i) {
        return "%v" + std::to_string(i);
    };
    for (int i = 2; i < n; i++) {
        text += "mad.lo.s32 " + v(i) + ", " + v(i - 1) + ", " + std::to_string(i) + ", " +
                v(i - 2) + ";\n";
    }
    text += "mov.b32 %sum, 0;\n";
    for (int i = 0; i < n; i++) {
        text += "shfl.sync.bfly.b32 %other, " + v(i) +
                ", 1, 31, -1;\nxor.b32 %other, %other, "
                "%sum;\nmad.lo.s32 %sum, %other, " +
                v(n - 1 - i) + ", " + v(i) + ";\n";
    }
    text += "st.param.b32 [result], %sum;\nret;\n}\n";
    LinkableData library;
    library.name = "rng";
    library.images.push_back(image_of(CALOTYPE_PTX, 80, text, "rng.ptx"));
    return library;
}

/// A kernel of that many threads, which stores what `more` adds to.
DeviceModule module_of(const std::string &body, int threads, const Expr &more) {
    DeviceModule module =
        linked_module(DeviceAPI::CUDA, Block::make(parse_stmt(body), store_out(0, more)));
    DeviceKernel &k = module.kernels[0];
    k.block_size[0] = threads;
    KernelArgument source = k.args[0], n = k.args[0];
    source.name = "src";
    source.type = Float(32);
    source.written = false;
    n.name = "n";
    n.is_buffer = n.read = n.written = false;
    k.args.push_back(source);
    k.args.push_back(n);
    return module;
}

DeviceModule with_library(DeviceModule module, const LinkableData &library) {
    module.linked.linkables = {library};
    module.linked.functions["rng_next"] = {Int(32), {Int(32), Int(32)}};
    return module;
}

Expr call_of_library() {
    return linked_call(Int(32), "rng_next", {load_out(1), load_out(2)});
}

bool has_bound(const DeviceCode &code) {
    const DeviceImage &ptx = code.images.at(0);
    EXPECT_EQ(ptx.kind, CALOTYPE_PTX);
    return ptx.bytes.find(".minnctapersm") != std::string::npos;
}

/// Copies go on beside the work: four blocks of 128 threads hide what is left of the waiting.
const char *copying = R"(
    allocate tile[float32, 512] in gpu_shared
    let t = gpu_thread_index(0)
    evaluate gpu_async_copy(tile:handle, t * 4, src:handle, t * 4, 4):float32
    evaluate gpu_async_commit()
    evaluate gpu_async_wait(0)
    evaluate gpu_thread_barrier(2)
    out[t + 8] = int32(tile[511 - t]:float32))";

TEST(LinkedLaunchBounds, OfKernelsThatWaitForCopies) {
    NEEDS_INPUT("rng.ptx");
    EXPECT_TRUE(
        has_bound(compile_cuda_module(module_of(copying, 128, load_out(1)), Target(sm_90))));
    const DeviceModule linked = module_of(copying, 128, call_of_library());
    for (const LinkableData &library : {linkable_of("rng.ptx"), greedy_library()}) {
        const DeviceCode code = compile_cuda_module(with_library(linked, library), Target(sm_90));
        EXPECT_FALSE(has_bound(code));
        EXPECT_TRUE(defines(cubin_for(code, 90), "rng_next"));
    }
}

TEST(LinkedLaunchBounds, BitcodeIsCompiledWithTheKernel) {
    NEEDS_INPUT("rng.bc");
    const DeviceModule module =
        with_library(module_of(copying, 128, call_of_library()), linkable_of("rng.bc"));
    EXPECT_TRUE(has_bound(compile_cuda_module(module, Target(sm_90))));
}

/// Each sum takes a load of each of many rows: found by trying, all threads have room with a bound.
TEST(LinkedLaunchBounds, OfKernelsWithManyLoadsUnderWay) {
    NEEDS_INPUT("rng.ptx");
    std::string body = "let t = gpu_thread_index(0)\nout[t + 8] = int32(0.0f";
    for (int i = 0; i < 48; i++) {
        body += " + src[t + n * " + std::to_string(i) + "]:float32";
    }
    body += ")";
    EXPECT_TRUE(has_bound(compile_cuda_module(module_of(body, 512, load_out(1)), Target(sm_90))));
    const DeviceModule linked = module_of(body, 512, call_of_library());
    EXPECT_FALSE(has_bound(
        compile_cuda_module(with_library(linked, linkable_of("rng.ptx")), Target(sm_90))));
}

}  // namespace
}  // namespace calotype::internal
