// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What compile_cuda_module gives: images, facts and notes, with a toolkit and without.
#include <gtest/gtest.h>

#include "codegen/nvptx/assemble.h"
#include "codegen/nvptx/cubin.h"
#include "codegen/nvptx/device_module.h"
#include "codegen/nvptx/launch_bounds.h"
#include "codegen/nvptx/occupancy.h"
#include "harness/cuda_home.h"
#include "harness/expect_error.h"

namespace calotype::internal {

using test::CudaHome;

namespace {

DeviceKernel tile_kernel(int size = 256) {
    return kernel("allocate tile[float32, " + std::to_string(size) + R"(] in gpu_shared
        let t = gpu_thread_index(0)
        tile[t] = src[t]:float32
        evaluate gpu_thread_barrier(2)
        out[t] = tile[255 - t]:float32)",
                  {input("src", Float(32)), output("out", Float(32))}, 256);
}

DeviceCode compile(const DeviceModule &module, const char *target) {
    return compile_cuda_module(module, Target(target));
}

TEST(CompileCuda, GivesPtxAloneWithoutAToolkit) {
    CudaHome none("/nowhere");
    DeviceCode code = compile(module_of({tile_kernel()}), "x86-64-linux-cuda-cuda_capability_80");
    ASSERT_EQ(code.images.size(), 1u);
    EXPECT_EQ(code.images[0].kind, CALOTYPE_PTX);
    EXPECT_EQ(code.images[0].sm, 80u);
    ASSERT_EQ(code.kernels.size(), 1u);
    EXPECT_EQ(code.kernels[0].symbol, "k");
    EXPECT_EQ(code.kernels[0].max_threads, 256u);
    EXPECT_TRUE(code.facts.empty());
    ASSERT_EQ(code.notes.size(), 1u);
    EXPECT_EQ(code.notes[0],
              "no CUDA toolkit was found ($CUDA_HOME, $CUDA_PATH, /usr/local/cuda, ptxas on "
              "$PATH): kernels are embedded as PTX alone, which the driver compiles when they are "
              "first used");
}

TEST(CompileCuda, GivesCubinsAndFactsWithOne) {
    if (assembled_architectures().empty()) {
        GTEST_SKIP() << "no CUDA toolkit on this machine";
    }
    DeviceModule module = module_of({tile_kernel()});
    DeviceCode code = compile(module, "x86-64-linux-cuda");
    ASSERT_EQ(code.images.size(), 3u);
    EXPECT_EQ(code.images[0].kind, CALOTYPE_PTX);
    EXPECT_EQ(code.images[0].sm, 50u);
    EXPECT_EQ(code.images[1].kind, CALOTYPE_CUBIN);
    EXPECT_EQ(code.images[1].sm, 80u);
    EXPECT_EQ(code.images[2].sm, 90u);
    EXPECT_EQ(code.images[2].bytes.substr(1, 3), "ELF");
    EXPECT_TRUE(code.notes.empty());
    ASSERT_EQ(code.facts.size(), 2u);
    for (const KernelFacts &f : code.facts) {
        EXPECT_EQ(f.kernel, "k");
        EXPECT_GT(f.registers, 3);
        EXPECT_EQ(f.spill_store_bytes, 0);
        EXPECT_EQ(f.spill_load_bytes, 0);
        EXPECT_EQ(f.stack_bytes, 0);
        EXPECT_EQ(f.threads, 256);
        EXPECT_EQ(f.blocks_per_sm, 8);
        EXPECT_EQ(f.occupancy_percent, 100);
        EXPECT_EQ(f.limited_by, "threads");
    }
    EXPECT_EQ(code.facts[0].static_shared_bytes, 1024);
    // More than the file has bytes where that memory stands in it; 1024 are the system's.
    EXPECT_EQ(compile(module_of({tile_kernel(12000)}), "x86-64-linux-cuda-cuda_capability_90")
                  .facts.at(0)
                  .static_shared_bytes,
              48000 + 1024);
    // The same bytes again.
    DeviceCode again = compile(module, "x86-64-linux-cuda");
    for (size_t i = 0; i < code.images.size(); i++) {
        EXPECT_EQ(code.images[i].bytes, again.images[i].bytes) << i;
    }
}

TEST(CompileCuda, SaysThatAKernelSpills) {
    if (assembled_architectures().empty()) {
        GTEST_SKIP() << "no CUDA toolkit on this machine";
    }
    // 1024 threads have 64 registers each; 96 values are alive at the barrier.
    std::string body = "let t = gpu_thread_index(0)\n";
    for (int i = 0; i < 96; i++) {
        std::string n = std::to_string(i);
        body += "let v" + n + " = out[t + " + std::to_string(i * 1024) + "]:float32\n";
    }
    body += "evaluate gpu_thread_barrier(1)\n";
    for (int i = 0; i < 96; i++) {
        body += "out[t + " + std::to_string((95 - i) * 1024) + "] = v" + std::to_string(i) +
                ":float32\n";
    }
    DeviceCode code = compile(module_of({kernel(body, {output("out", Float(32))}, 1024)}),
                              "x86-64-linux-cuda-cuda_capability_90");
    ASSERT_EQ(code.notes.size(), 1u);
    EXPECT_EQ(code.notes[0].compare(0, 33, "kernel k spills registers on sm_9"), 0)
        << code.notes[0];
    EXPECT_GT(code.facts[0].spill_store_bytes, 0);
    EXPECT_EQ(code.facts[0].registers, 64);
}

TEST(CompileCuda, KernelsOfEqualIdentifiersGetDifferentSymbols) {
    CudaHome none("/nowhere");
    DeviceKernel a = tile_kernel(), b = tile_kernel();
    a.name = "f.x";
    b.name = "f$x";
    DeviceCode code = compile(module_of({a, b}), "x86-64-linux-cuda");
    EXPECT_EQ(code.kernels[0].symbol, "f_x");
    EXPECT_EQ(code.kernels[1].symbol, "f_x_2");
}

TEST(CompileCuda, RefusesWhatNoBlockHas) {
    CudaHome none("/nowhere");
    DeviceKernel k = tile_kernel();
    k.shared_bytes = 49153;
    DeviceModule module = module_of({k});
    EXPECT_COMPILE_ERROR(compile(module, "x86-64-linux-cuda"),
                         "kernel k has 49153 bytes of shared memory of constant size, "
                         "at most 49152 are possible");
}

/// So many 64-bit arguments; the buffer is one more.
DeviceKernel kernel_of_many(int n) {
    std::vector<KernelArgument> args = {output("out", Int(64))};
    for (int i = 0; i < n; i++) {
        args.push_back(scalar("a" + std::to_string(i), Int(64)));
    }
    return kernel("out[gpu_thread_index(0)] = a0 + a" + std::to_string(n - 1), args, 256);
}

TEST(CompileCuda, ManyParametersTakeALaterVersionOfPtx) {
    const auto ptx_of = [](int n, const char *target) {
        return compile(module_of({kernel_of_many(n)}), target).images[0].bytes;
    };
    const char *const volta = "x86-64-linux-cuda-cuda_capability_70";
    EXPECT_EQ(0u, ptx_of(543, volta).find(".version 6.0")) << "4352 bytes";
    EXPECT_EQ(0u, ptx_of(544, volta).find(".version 8.1"));
    EXPECT_EQ(0u, ptx_of(543, "x86-64-linux-cuda").find(".version 6.0"));
    EXPECT_COMPILE_ERROR(ptx_of(544, "x86-64-linux-cuda"),
                         "kernel k has 4360 bytes of parameters, at most 4352 are possible for "
                         "sm_50: name cuda_capability_70 or a later one in the target");
    EXPECT_COMPILE_ERROR(ptx_of(4095, volta),
                         "kernel k has 32768 bytes of parameters, at most 32764 are possible for "
                         "sm_70");
}

KernelFacts facts_with(const char *kernel, int registers, int spilled = 0) {
    KernelFacts f;
    f.kernel = kernel;
    f.sm = 90;
    f.registers = registers;
    f.spill_store_bytes = spilled;
    f.static_shared_bytes = 0;
    f.threads = 512;
    fill_occupancy(f);
    return f;
}

/// Kernels of blocks of 512 threads.
DeviceModule module_with(const std::vector<std::string> &names) {
    DeviceModule module;
    for (const std::string &name : names) {
        DeviceKernel k = kernel("evaluate 0", {}, 512);
        k.name = name;
        module.kernels.push_back(k);
    }
    return module;
}

/// The blocks that PTX with these bounds asks for, one number a kernel. 0: none.
std::vector<int> bounds_of(const LaunchBounds &bounds, const DeviceModule &module) {
    std::string ptx;
    for (const DeviceKernel &k : module.kernels) {
        ptx += ".visible .entry " + k.name + "(\n)\n.reqntid 512, 1, 1\n{\nret;\n}\n";
    }
    ptx = bounds.apply(ptx);
    std::vector<int> blocks;
    for (const DeviceKernel &k : module.kernels) {
        const size_t entry = ptx.find(".entry " + k.name + "(");
        const std::string head = ptx.substr(entry, ptx.find("{", entry) - entry);
        const std::string directive = "\n.minnctapersm ";
        const size_t bound = head.find(directive);
        blocks.push_back(
            bound == std::string::npos ? 0 : std::stoi(head.substr(bound + directive.size())));
    }
    return blocks;
}

TEST(LaunchBounds, AsManyBlocksAsDoNotSpill) {
    const DeviceModule module = module_with({"a", "b", "c"});
    LaunchBounds bounds({facts_with("a", 72), facts_with("b", 107), facts_with("c", 72)}, module,
                        "");
    EXPECT_EQ(bounds_of(bounds, module), (std::vector<int>{3, 2, 3}));
    EXPECT_TRUE(
        bounds.refine({facts_with("a", 40, 8), facts_with("b", 64, 8), facts_with("c", 40)}));
    EXPECT_EQ(bounds_of(bounds, module), (std::vector<int>{2, 0, 4}));
    EXPECT_TRUE(bounds.refine({facts_with("a", 64), facts_with("b", 107), facts_with("c", 32, 8)}));
    EXPECT_EQ(bounds_of(bounds, module), (std::vector<int>{2, 0, 3}));
    EXPECT_FALSE(bounds.refine({facts_with("a", 64), facts_with("b", 107), facts_with("c", 40)}));
    EXPECT_FALSE(bounds.empty());
}

TEST(LaunchBounds, NoneIfAllSpill) {
    const DeviceModule module = module_with({"a"});
    LaunchBounds bounds({facts_with("a", 107)}, module, "");
    EXPECT_TRUE(bounds.refine({facts_with("a", 64, 8)}));
    EXPECT_TRUE(bounds.empty());
}

TEST(LaunchBounds, NotWhereRegistersAreNoLimit) {
    DeviceModule module = module_with({"a"});
    EXPECT_FALSE(LaunchBounds({facts_with("a", 72)}, module, "").empty());
    EXPECT_TRUE(LaunchBounds({facts_with("a", 32)}, module, "").empty()) << "threads are the limit";
    EXPECT_FALSE(LaunchBounds({facts_with("a", 64)}, module, "").empty());
    EXPECT_TRUE(LaunchBounds({facts_with("a", 72, 8)}, module, "").empty()) << "it spills as it is";
    KernelFacts with_shared = facts_with("a", 72);
    with_shared.static_shared_bytes = 10 * 1024;
    EXPECT_FALSE(LaunchBounds({with_shared}, module, "").empty());
    with_shared.static_shared_bytes = 60 * 1024;
    EXPECT_TRUE(LaunchBounds({with_shared}, module, "").empty())
        << "little would be left as a cache";
    module.kernels[0].min_blocks = 1;
    EXPECT_TRUE(LaunchBounds({facts_with("a", 72)}, module, "").empty()) << "somebody has said";
    module.kernels[0].min_blocks = 0;
    module.kernels[0].block_size[1] = 0;
    EXPECT_TRUE(LaunchBounds({facts_with("a", 72)}, module, "").empty()) << "of any size";
}

/// Of kernels a and b with such PTX.
bool is_bounded(const char *kernel, int registers, const std::string &ptx) {
    return !LaunchBounds({facts_with(kernel, registers)}, module_with({"a", "b"}), ptx).empty();
}

// Loops that were unrolled need no registers for their next iterations.
TEST(LaunchBounds, LoopsKeepTheRegistersOfHalfTheThreads) {
    const std::string loop = ".entry a(\n{\n$L__BB0_1:\n\t@%p1 bra \t$L__BB0_1;\n\tret;\n}\n";
    EXPECT_FALSE(is_bounded("a", 64, loop));
    EXPECT_TRUE(is_bounded("a", 72, loop));
    const std::string none = ".entry a(\n{\n\t@%p1 bra \t$L__BB0_1;\n$L__BB0_1:\n\tret;\n}\n";
    EXPECT_TRUE(is_bounded("a", 64, none));
}

TEST(LaunchBounds, NotOfTilesThatAreMultiplied) {
    const std::string
        tile = ".entry a(\n\tld.shared.v4.f32 x\n\tfma.rn.f32 y\n\tfma.rn.f32 y\n\tfma.rn.f32 y\n",
        sum = ".entry b(\n\tld.global.nc.f32 x\n\tfma.rn.f32 y\n\tfma.rn.f32 y\n";
    EXPECT_FALSE(is_bounded("a", 107, tile + sum));
    EXPECT_TRUE(is_bounded("b", 107, tile + sum));
    EXPECT_TRUE(is_bounded("a", 72, tile + sum)) << "there is no tile in so few registers";
}

// With too few registers the assembler refuses a product of a warpgroup, and all other kernels with it.
TEST(LaunchBounds, NotOfTilesOfMatrixInstructions) {
    const std::string
        warp = ".entry a(\n\tld.global.f32 x\n\tmma.sync.aligned.m16n8k16.row.col.f32 y\n",
        group = ".entry b(\n\tld.global.f32 x\n\t{ wgmma.mma_async.sync.aligned.m64n256k16 y }\n";
    EXPECT_FALSE(is_bounded("a", 107, warp + group));
    EXPECT_TRUE(is_bounded("a", 72, warp + group));
    EXPECT_FALSE(is_bounded("b", 107, warp + group));
    EXPECT_FALSE(is_bounded("b", 72, warp + group));
}

/// A sum of a load of each of many rows, which may all be under way at once.
DeviceKernel sum_of_rows() {
    std::string body = "let t = gpu_thread_index(0)\nout[t] = 0.0f";
    for (int i = 0; i < 48; i++) {
        body += " + src[t + n * " + std::to_string(i) + "]:float32";
    }
    return kernel(body, {input("src", Float(32)), output("out", Float(32)), scalar("n", Int(32))},
                  512);
}

TEST(CompileCuda, KernelsHaveRoomForAllThreadsWhereRegistersSuffice) {
    if (assembled_architectures().empty()) {
        GTEST_SKIP() << "no CUDA toolkit on this machine";
    }
    const DeviceCode code =
        compile(module_of({sum_of_rows()}), "x86-64-linux-cuda-cuda_capability_90");
    EXPECT_EQ(code.facts.at(0).spill_store_bytes, 0);
    EXPECT_EQ(code.facts.at(0).occupancy_percent, 100);
}

// An sm_86 has 1536 threads at once, an sm_90, which has none of these cubins, 2048.
TEST(CompileCuda, PtxIsBoundedForTheDevicesThatCompileIt) {
    if (assembled_architectures().empty()) {
        GTEST_SKIP() << "no CUDA toolkit on this machine";
    }
    const auto ptx = [](const char *target) {
        return compile(module_of({sum_of_rows()}), target).images.at(0).bytes;
    };
    EXPECT_EQ(1, count(ptx("x86-64-linux-cuda-cuda_capability_86"), ".minnctapersm 4"));
    EXPECT_EQ(1, count(ptx("x86-64-linux-cuda-cuda_capability_90"), ".minnctapersm 4"));
    EXPECT_EQ(1, count(ptx("x86-64-linux-cuda"), ".minnctapersm 4"));
}

TEST(Cubin, DamagedFilesGiveNothing) {
    std::vector<KernelFacts> facts(1);
    facts[0].kernel = "k";
    read_cubin_facts("", facts);
    read_cubin_facts("\x7f"
                     "ELF\2 and then something else",
                     facts);
    read_cubin_facts(std::string("\x7f") + "ELF\2" + std::string(200, '\xff'), facts);
    EXPECT_EQ(facts[0].registers, -1);
    EXPECT_EQ(facts[0].static_shared_bytes, -1);
}

TEST(Cubin, SpillsAreReadFromTheLog) {
    std::vector<KernelFacts> facts(2);
    facts[0].kernel = "k";
    facts[1].kernel = "m";
    read_log_facts("ptxas info    : Compiling entry function 'm' for 'sm_90'\n"
                   "ptxas info    : Function properties for m\n"
                   "    8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads\n",
                   facts);
    EXPECT_EQ(facts[0].spill_store_bytes, -1);
    EXPECT_EQ(facts[1].spill_store_bytes, 12);
    EXPECT_EQ(facts[1].spill_load_bytes, 16);
}

TEST(Cubin, SpillsThatNoLogTellsOfAreTheStack) {
    const std::string ptx = ".visible .entry kept()\n{ add.s32 %r1, %r2, %r3; }\n"
                            ".visible .entry spilled()\n{ add.s32 %r1, %r2, %r3; }\n"
                            ".visible .entry variable()\n{ .local .align 4 .b8 depot[64]; }\n"
                            ".visible .entry calls()\n{ call.uni f, (); }\n"
                            ".visible .entry logged()\n{ ret; }\n";
    const struct {
        const char *kernel;
        int stack, logged, spilled;
    } rows[] = {
        {"kept", 0, -1, 0},     {"spilled", 24, -1, 24}, {"variable", 64, -1, -1},
        {"calls", 8, -1, -1},   {"logged", 16, 12, 12},  {"not_there", 8, -1, -1},
        {"variable", 0, -1, 0}, {"spilled", -1, -1, -1},
    };
    for (const auto &row : rows) {
        std::vector<KernelFacts> facts(1);
        facts[0].kernel = row.kernel;
        facts[0].stack_bytes = row.stack;
        facts[0].spill_store_bytes = facts[0].spill_load_bytes = row.logged;
        infer_spills(ptx, facts);
        EXPECT_EQ(facts[0].spill_store_bytes, row.spilled) << row.kernel << " " << row.stack;
        EXPECT_EQ(facts[0].spill_load_bytes, row.spilled) << row.kernel << " " << row.stack;
    }
}

TEST(Occupancy, IsLimitedByWhatRunsOutFirst) {
    struct {
        uint32_t sm;
        int registers, shared, threads, blocks, percent;
        const char *by;
    } rows[] = {
        {90, 32, 0, 256, 8, 100, "threads"},   {90, 128, 0, 256, 2, 25, "registers"},
        {90, 16, 0, 32, 32, 50, "blocks"},     {80, 32, 32768, 128, 4, 25, "shared memory"},
        {86, 40, 0, 256, 6, 100, "threads"},   {75, 64, 0, 1024, 1, 100, "threads"},
        {90, 255, 0, 256, 1, 12, "registers"},
    };
    for (const auto &row : rows) {
        KernelFacts f;
        f.sm = row.sm;
        f.registers = row.registers;
        f.static_shared_bytes = row.shared;
        f.threads = row.threads;
        fill_occupancy(f);
        EXPECT_EQ(f.blocks_per_sm, row.blocks) << row.sm << " " << row.by;
        EXPECT_EQ(f.occupancy_percent, row.percent) << row.sm << " " << row.by;
        EXPECT_EQ(f.limited_by, row.by);
    }
}

}  // namespace

}  // namespace calotype::internal
