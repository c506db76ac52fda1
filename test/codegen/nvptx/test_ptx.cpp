// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The instructions that kernels become. Each kernel is also assembled for the architectures that
// the toolkit knows, where there is one.
#include <gtest/gtest.h>

#include "codegen/nvptx/device_module.h"
#include "harness/expect_error.h"

namespace calotype::internal {

namespace {

const std::vector<KernelArgument> float_to_float = {input("src", Float(32)),
                                                    output("out", Float(32))};

TEST(Ptx, HasIndicesBoundsOfTheBlockAndReadOnlyLoads) {
    std::string ptx = checked_ptx(
        kernel(R"(
        let i = gpu_block_index(0) * 128 + gpu_thread_index(0)
        if (i < n) {
            out[i] = src[i]:float32 * 3.0f
        })",
               {input("src", Float(32)), output("out", Float(32)), scalar("n", Int(32))}));
    EXPECT_EQ(count(ptx, ".visible .entry k("), 1);
    EXPECT_EQ(count(ptx, ".reqntid 128, 1, 1"), 1);
    EXPECT_EQ(count(ptx, "ld.global.nc.f32"), 1);
    EXPECT_EQ(count(ptx, "st.global.f32"), 1);
    EXPECT_EQ(count(ptx, "mul.rn.f32"), 1);
    // Addresses are one multiplication of the 32-bit index each.
    EXPECT_EQ(count(ptx, "mul.wide"), 1);
    EXPECT_EQ(count(ptx, "cvt.s64"), 0);
}

// One that is the same in all iterations of a loop, where a condition guards it.
TEST(Ptx, LoadsThatExtendSignsStayBehindConditions) {
    const std::string ptx =
        checked_ptx(kernel(R"(
        let t = gpu_thread_index(0)
        for (i, 0, n) {
            if (i * t < n) {
                out[i] = int32(src[t]:int8) + i
            }
        })",
                           {input("src", Int(8)), output("out", Int(32)), scalar("n", Int(32))}));
    // The first branch is taken where the loop has no iterations.
    const size_t condition = ptx.find("@%p2 bra");
    ASSERT_NE(condition, std::string::npos) << ptx;
    EXPECT_GT(ptx.find("ld.global.nc.s8"), condition) << ptx;
}

// Of bytes and words, whatever they become, at any distance from a place.
TEST(Ptx, LoadsExtendSigns) {
    struct Case {
        std::string value;
        Type from, to;
        std::string load;
    };
    const std::vector<Case> cases = {
        {"int32(src[t]:int8)", Int(8), Int(32), "ld.global.nc.s8"},
        {"int32(src[t + 3]:int8) * int32(src[t - 5]:int8)", Int(8), Int(32), "ld.global.nc.s8"},
        {"int64(src[t]:int16)", Int(16), Int(64), "ld.global.nc.s16"},
        {"int16(src[t]:int8) * (int16)3", Int(8), Int(16), "ld.global.nc.s8"},
        {"float32(src[t]:int8)", Int(8), Float(32), "ld.global.nc.s8"},
        {"float64(src[t]:int16)", Int(16), Float(64), "ld.global.nc.s16"},
    };
    for (const Case &c : cases) {
        const std::string ptx = checked_ptx(pointwise(c.value, c.from, c.to));
        EXPECT_EQ(count(ptx, c.load), count(c.value, "src")) << ptx;
        EXPECT_EQ(count(ptx, "ld.global.nc.u"), 0) << ptx;
        EXPECT_EQ(count(ptx, "cvt.s32.s8") + count(ptx, "cvt.s16.s8") + count(ptx, "cvt.s32.s16"),
                  0)
            << ptx;
    }
    // What is written as well, or used as it is, is loaded as before.
    EXPECT_EQ(
        count(checked_ptx(pointwise("src[t]:int8 + (int8)1", Int(8), Int(8))), "ld.global.nc.s8"),
        0);
    const std::string written =
        checked_ptx(kernel("let t = gpu_thread_index(0)\n out[t] = int16(out[t + 1]:int16) + "
                           "int16(int32(out[t]:int16) / 3)",
                           {output("out", Int(16))}));
    EXPECT_EQ(count(written, ".nc."), 0) << written;
}

// Functions of libdevice, too: an unrolled loop calls one with what its iterations have in common.
TEST(Ptx, EqualCallsOfFunctionsAreOne) {
    PtxOptions options;
    options.libdevice = true;
    const auto ptx = [&](const std::string &body) {
        return ptx_of(kernel("let t = gpu_thread_index(0)\n" + body, float_to_float), options);
    };
    const std::string once = ptx("out[t] = sin(float32(t)) + src[t]:float32");
    const std::string twice = ptx("out[t] = sin(float32(t)) + src[t]:float32\n"
                                  "out[t + 128] = sin(float32(t)) + src[t + 1]:float32");
    EXPECT_EQ(count(twice, "fma.rn.f32"), count(once, "fma.rn.f32")) << twice;
    EXPECT_EQ(count(twice, "ld.local"), count(once, "ld.local")) << twice;
}

// In 16 bits there is no instruction that multiplies and adds. Factors are used more than once.
// The assembler would take a minute for some hundreds in place.
TEST(Ptx, VeryManyFunctionsAreCalls) {
    const auto sum = [](int terms) {
        std::string e = "0.0f";
        for (int i = 1; i <= terms; i++) {
            e += " + sin(src[t]:float32 * " + std::to_string(i) + ".0f)";
        }
        return pointwise(e, Float(32), Float(32));
    };
    const std::string name = "calotype_$_math_$_sin_$_f32x1";
    EXPECT_EQ(count(ptx_of(sum(100)), name), 0);
    const std::string ptx = checked_ptx(sum(200));
    EXPECT_GE(count(ptx, name), 200);
    EXPECT_LE(count(ptx, "\n"), 200 * 25);
}

TEST(Ptx, ProductsOfBytesHaveTheTypeOfTheirSum) {
    const auto product = [](const std::string &a, int i, int j) {
        return "int32(int16(a[t + " + std::to_string(i) + "]:" + a + ") * int16(b[" +
               std::to_string(j) + "]:int8))";
    };
    for (const std::string a : {"int8", "uint8"}) {
        const std::string ptx = checked_ptx(kernel("let t = gpu_thread_index(0)\n"
                                                   "out[t] = " +
                                                       product(a, 0, 0) + " + " + product(a, 1, 1) +
                                                       "\nout[t + 128] = " + product(a, 2, 0) +
                                                       " + " + product(a, 3, 1),
                                                   {input("a", a == "int8" ? Int(8) : UInt(8)),
                                                    input("b", Int(8)), output("out", Int(32))}));
        EXPECT_EQ(count(ptx, "mul.lo.s16"), 0) << ptx;
        EXPECT_EQ(count(ptx, "mad.lo.s32"), 2) << ptx;
    }
}

// What stands before a store is not loaded and computed again after it.
TEST(Ptx, LoadsOfWhatIsOnlyReadAreOneAcrossStores) {
    const std::string ptx = checked_ptx(kernel(R"(
        let t = gpu_thread_index(0)
        out[t] = src[t + 1]:float32 * (src[t + 2]:float32 / src[t]:float32)
        out[t + 512] = src[t + 3]:float32 * (src[t + 2]:float32 / src[t]:float32))",
                                               float_to_float));
    EXPECT_EQ(count(ptx, "ld.global.nc.f32"), 4) << ptx;
    EXPECT_EQ(count(ptx, "div.rn.f32"), 1) << ptx;
}

// Ramps whose stride is no constant: those that differ by a constant have the address of each lane in common.
TEST(Ptx, LanesOfStridedRampsAreAddressedOnce) {
    std::string body = "let t = gpu_thread_index(0)\n out[ramp(t * 4, 1, 4)] = ";
    for (int i = 0; i < 6; i++) {
        body += (i > 0 ? " + " : "") + std::string("src[ramp(t") +
                (i > 0 ? " + " + std::to_string(i) : "") + ", s, 4)]:float32x4";
    }
    const std::string ptx = checked_ptx(
        kernel(body, {input("src", Float(32)), output("out", Float(32)), scalar("s", Int(32))}));
    EXPECT_EQ(count(ptx, "ld.global.nc.f32"), 24) << ptx;
    EXPECT_LE(count(ptx, "add.s64"), 5) << ptx;
    EXPECT_LE(count(ptx, "mul.wide"), 5) << ptx;
}

// A register holds one element: there are no vectors whose lanes would have to be divided together.
TEST(Ptx, DividesTheElementsOfVectorsAsIntegers) {
    const auto divided_by = [](const std::string &divisor) {
        return checked_ptx(
            kernel("let t = gpu_thread_index(0)\n out[ramp(t * 2, 1, 2)] = "
                   "src[ramp(t * 2, 1, 2)]:int32x2 / broadcast(" +
                       divisor + ", 2)",
                   {input("src", Int(32)), output("out", Int(32)), scalar("d", Int(32))}));
    };
    const std::string by_variable = divided_by("d"), by_constant = divided_by("7");
    EXPECT_EQ(count(by_variable, "div.s32"), 2);
    EXPECT_EQ(count(by_variable, ".f64"), 0);
    EXPECT_EQ(count(by_constant, "div."), 0);
    EXPECT_EQ(count(by_constant, "mul.wide.u32"), 3);  // one is of the address
    EXPECT_EQ(count(by_constant, "mul.lo.s64"), 0);
}

TEST(Ptx, IsOfTheLowestVersionThatKnowsTheArchitecture) {
    DeviceKernel k = pointwise("src[t]:float32", Float(32), Float(32));
    struct {
        int sm;
        const char *version, *target;
    } rows[] = {{50, ".version 6.0", ".target sm_50"},  {70, ".version 6.0", ".target sm_70"},
                {75, ".version 6.3", ".target sm_75"},  {80, ".version 7.0", ".target sm_80"},
                {86, ".version 7.1", ".target sm_86"},  {90, ".version 7.8", ".target sm_90"},
                {100, ".version 7.8", ".target sm_90"}, {120, ".version 7.8", ".target sm_90"}};
    for (const auto &row : rows) {
        PtxOptions options;
        options.sm = row.sm;
        std::string ptx = ptx_of(k, options);
        EXPECT_EQ(count(ptx, row.version), 1) << row.sm;
        EXPECT_EQ(count(ptx, row.target), 1) << row.sm;
    }
}

TEST(Ptx, BlocksOfUnknownShapeHaveNoBound) {
    DeviceKernel k = kernel("out[gpu_thread_index(0)] = 1.0f", {output("out", Float(32))}, 0);
    EXPECT_EQ(count(checked_ptx(k), "ntid"), 0);
}

TEST(Ptx, WrittenBuffersAreNotReadThroughTheReadOnlyCache) {
    std::string ptx = checked_ptx(kernel(R"(
        let t = gpu_thread_index(0)
        out[t] = out[t]:float32 + 1.0f)",
                                         {output("out", Float(32))}));
    EXPECT_EQ(count(ptx, "ld.global.f32"), 1);
    EXPECT_EQ(count(ptx, ".nc"), 0);
}

TEST(Ptx, AlignedVectorsAreOneAccessOf128Bits) {
    const char *body = R"(
        let t = gpu_thread_index(0)
        out[ramp(t * 4, 1, 4) align(4, 0)] = src[ramp(t * 4, 1, 4) align(4, 0)]:float32 * broadcast(3.0f, 4))";
    std::string aligned =
        checked_ptx(kernel(body, {input("src", Float(32), 16), output("out", Float(32), 16)}));
    EXPECT_EQ(count(aligned, "ld.global.nc.v4"), 1);
    EXPECT_EQ(count(aligned, "st.global.v4"), 1);
    std::string unaligned = checked_ptx(kernel(body, float_to_float));
    EXPECT_EQ(count(unaligned, "ld.global.nc.v4"), 0);
    EXPECT_EQ(count(unaligned, "st.global.f32"), 4);
}

TEST(Ptx, VectorsOfBytesAreOneAccess) {
    const char *body = R"(
        let t = gpu_thread_index(0)
        out[ramp(t * 16, 1, 16) align(16, 0)] = src[ramp(t * 16, 1, 16) align(16, 0)]:uint8)";
    std::string ptx =
        checked_ptx(kernel(body, {input("src", UInt(8), 16), output("out", UInt(8), 16)}));
    EXPECT_EQ(count(ptx, "ld.global.nc.v4.u32") + count(ptx, "ld.global.nc.v2.u64"), 1) << ptx;
    EXPECT_EQ(count(ptx, "st.global.v4.u32") + count(ptx, "st.global.v2.u64"), 1) << ptx;
}

// LLVM 19 loads 16 bytes at once, aligned or not.
TEST(Ptx, VectorsOfBytesElsewhereAreLoadedInParts) {
    for (const int lanes : {12, 16, 24, 32}) {
        for (const int alignment : {1, 2, 4, 8}) {
            const std::string n = std::to_string(lanes), a = std::to_string(alignment);
            const std::string index = "[ramp(t * " + a + ", 1, " + n + ") align(" + a + ", 0)]";
            const std::string body = "let t = gpu_thread_index(0)\n out[ramp(t * " + n + ", 1, " +
                                     n + ")] = src" + index + ":uint8 + src" + index + ":uint8";
            for (const KernelArgument &src :
                 {input("src", UInt(8), 16), output("src", UInt(8), 16)}) {
                const std::string ptx =
                    checked_ptx(kernel(body, {src, output("out", UInt(8), 16)}));
                EXPECT_EQ(count(ptx, "ld.global.nc.v4") + count(ptx, "ld.global.v4"), 0) << ptx;
                EXPECT_GE(count(ptx, "ld.global"), lanes / 8) << ptx;
            }
        }
    }
}

TEST(Ptx, SharedMemoryOfConstantSizeIsAVariableOfTheBlock) {
    std::string ptx = checked_ptx(kernel(R"(
        allocate tile[float32, 128] in gpu_shared
        let t = gpu_thread_index(0)
        tile[t] = src[t]:float32
        evaluate gpu_thread_barrier(2)
        out[t] = tile[127 - t]:float32)",
                                         float_to_float));
    EXPECT_EQ(count(ptx, ".shared .align 16 .b8 tile[512]"), 1) << ptx;
    EXPECT_EQ(count(ptx, "bar.sync"), 1);
    EXPECT_EQ(count(ptx, "st.shared.f32"), 1);
    EXPECT_EQ(count(ptx, "ld.shared.f32"), 1);
    EXPECT_EQ(count(ptx, "cvta"), 0);
}

TEST(Ptx, SharedMemoryOfTheLaunchIsExternal) {
    std::string ptx = checked_ptx(kernel(R"(
        allocate tile[float32, shared_bytes] in gpu_shared
        let t = gpu_thread_index(0)
        tile[t] = src[t]:float32
        evaluate gpu_thread_barrier(2)
        out[t] = tile[127 - t]:float32)",
                                         float_to_float));
    EXPECT_EQ(count(ptx, ".extern .shared .align 1024 .b8 calotype_dynamic_shared[]"), 1) << ptx;
}

TEST(Ptx, ArraysOfSmallLoopsAreRegisters) {
    std::string ptx = checked_ptx(kernel(R"(
        allocate sum[float32, 4] in register
        let t = gpu_thread_index(0)
        for (i, 0, 4) { sum[i] = 0.0f }
        for (k, 0, 64) {
            for (i, 0, 4) {
                sum[i] = sum[i]:float32 + src[t * 4 + i + k * 512]:float32
            }
        }
        for (i, 0, 4) { out[t * 4 + i] = sum[i]:float32 })",
                                         float_to_float));
    EXPECT_EQ(count(ptx, ".local"), 0) << ptx;
}

TEST(Ptx, LoopsOfUnknownExtentThatWriteAreLeftForTheAssemblerToUnroll) {
    const std::string ptx = ptx_of(kernel(R"(
            let t = gpu_thread_index(0)
            for (i, 0, n) {
              out[t + i * 128] = src[t + i * m]:float32
            })",
                                          {input("src", Float(32)), output("out", Float(32)),
                                           scalar("n", Int(32)), scalar("m", Int(32))}));
    EXPECT_EQ(count(ptx, "ld.global"), 1) << ptx;
    EXPECT_EQ(count(ptx, "nounroll"), 0) << ptx;
}

TEST(Ptx, ShortLoopsOfConstantExtentAreUnrolled) {
    const std::string ptx = checked_ptx(
        kernel(R"(
            let t = gpu_thread_index(0)
            for (i, 0, 40) {
              out[t + i * 128] = src[t + i * m]:float32
            })",
               {input("src", Float(32)), output("out", Float(32)), scalar("m", Int(32))}));
    EXPECT_EQ(count(ptx, "ld.global"), 40) << ptx;
}

// Sums that others see stay in memory, so nothing is gained by one long body.
TEST(Ptx, LoopsThatAddToSharedMemoryAreUnrolledInPart) {
    const auto ptx = [](int iterations) {
        std::string body;
        for (int row = 0; row < 8; row++) {
            const std::string place = "s[t + " + std::to_string(row * 128) + "]";
            body += place + " = " + place + ":float32 + src[t + i * m]:float32 * s[i * m + " +
                    std::to_string(row) + "]:float32\n";
        }
        return checked_ptx(kernel(
            "let t = gpu_thread_index(0)\n"
            "allocate s[float32, 2048] in gpu_shared\n"
            "for (i, 0, " +
                std::to_string(iterations) + ") {\n" + body + "}\n" + "out[t] = s[t]:float32",
            {input("src", Float(32)), output("out", Float(32)), scalar("m", Int(32))}));
    };
    EXPECT_EQ(count(ptx(8), "ld.global"), 8) << "a window";
    EXPECT_EQ(count(ptx(16), "ld.global"), 4);
}

std::string loop_of(int iterations, const std::string &body) {
    return R"(
        let t = gpu_thread_index(0)
        allocate sum[float32, 1] in register
        sum[0] = 0.0f
        for (i, 0, )" +
           std::to_string(iterations) + R"() {
)" + body + R"(
        }
        out[t] = sum[0]:float32)";
}

/// As many loads are under way as do not depend on what the assembler unrolls, and no more: a long body would
/// wait for its instructions.
TEST(Ptx, LoopsThatOnlyReadDeviceMemoryHaveManyLoadsUnderWay) {
    const auto ptx = [](int iterations, const std::string &body) {
        return checked_ptx(
            kernel(loop_of(iterations, body), {input("src", Float(32)), input("other", Float(32)),
                                               output("out", Float(32)), scalar("m", Int(32))}));
    };
    const std::string sum = "sum[0] = sum[0]:float32 + src[t + i * m]:float32";
    const std::string product =
        "sum[0] = sum[0]:float32 + src[t + i * m]:float32 * other[i]:float32";
    EXPECT_EQ(count(ptx(1536, sum), "ld.global"), 48);
    EXPECT_EQ(count(ptx(1520, sum), "ld.global"), 40) << "the largest divisor";
    const std::string prime = ptx(127, sum);
    EXPECT_EQ(count(prime, "ld.global"), 1 + 42) << "one in front of the loop\n" << prime;
    EXPECT_EQ(count(prime, "bra"), 1) << "no exit from the middle\n" << prime;
    EXPECT_EQ(count(ptx(16, product), "ld.global"), 32) << "short loops wholly";
    EXPECT_EQ(count(ptx(100, product), "ld.global"), 40);
    EXPECT_EQ(count(ptx(64, product), "ld.global"), 32);
    const std::string scan =
        ptx(1536, "out[t + i * m + m] = out[t + i * m]:float32 + src[t]:float32");
    EXPECT_GT(count(scan, "st.global"), 2) << scan;
}

/// Many iterations at once, eight of the rest, and a loop over what is left, which the assembler may unroll.
TEST(Ptx, LoopsOfUnknownExtentThatReadHaveManyLoadsUnderWay) {
    const std::string ptx = checked_ptx(kernel(R"(
            let t = gpu_thread_index(0)
            allocate sum[float32, 1] in register
            sum[0] = 0.0f
            for (i, 0, n) {
              sum[0] = sum[0]:float32 + src[t + i * m]:float32
            }
            out[t] = sum[0]:float32)",
                                               {input("src", Float(32)), output("out", Float(32)),
                                                scalar("n", Int(32)), scalar("m", Int(32))}));
    EXPECT_EQ(count(ptx, "ld.global"), 32 + 8 + 1) << ptx;
    EXPECT_EQ(count(ptx, "nounroll"), 2) << ptx;
}

/// The assembler would unroll by four what is known to run three times at most, as where a window takes up a plane.
TEST(Ptx, LoopsOfVeryFewIterationsStayLoops) {
    const auto ptx = [](int most) {
        return checked_ptx(kernel("let t = gpu_thread_index(0)\n"
                                  "allocate s[float32, 2048] in gpu_shared\n"
                                  "for (i, 0, n) {\n"
                                  "  for (j, i, select(0 < i, 1, " +
                                      std::to_string(most) +
                                      ")) {\n"
                                      "    s[t + j % 4 * 128] = src[t + j * m]:float32\n"
                                      "  }\n"
                                      "  out[t + i * m] = s[t * 2 + i % 4 * 128]:float32\n"
                                      "}",
                                  {input("src", Float(32)), output("out", Float(32)),
                                   scalar("n", Int(32)), scalar("m", Int(32))}));
    };
    EXPECT_EQ(count(ptx(3), "nounroll"), 1) << ptx(3);
    EXPECT_EQ(count(ptx(9), "nounroll"), 0) << ptx(9);
}

/// Each of several neighbours is added to and clamped; moved out of the clamp, what is added would be one of the terms
/// of an address in 64 bits.
TEST(Ptx, SumsStayWithinClamps) {
    const std::string ptx = checked_ptx(kernel(
        loop_of(8, "sum[0] = sum[0]:float32 + src[max(min(i + n, 767), 0) * 1023 + t]:float32"),
        {input("src", Float(32)), output("out", Float(32)), scalar("n", Int(32))}));
    EXPECT_EQ(count(ptx, "ld.global"), 8) << ptx;
    EXPECT_EQ(count(ptx, ", 767;"), 8) << ptx;
}

/// Vectors that overlap in an array of a thread are taken element by element, so that it becomes registers.
TEST(Ptx, ArraysWithOverlappingVectorsBecomeRegisters) {
    const std::string ptx = checked_ptx(kernel(R"(
        let t = gpu_thread_index(0)
        allocate a[float32, 6] in stack
        for (i, 0, 6) {
          a[i] = src[t * 8 + i]:float32 * 2.0f
        }
        allocate sum[float32, 2] in stack
        sum[ramp(0, 1, 2)] = broadcast(0.0f, 2)
        for (i, 0, 5) {
          sum[ramp(0, 1, 2)] = sum[ramp(0, 1, 2)]:float32 + a[ramp(i, 1, 2)]:float32 - a[ramp(4, -1, 2)]:float32
        }
        out[ramp(t * 2, 1, 2)] = sum[ramp(0, 1, 2)]:float32)",
                                               float_to_float));
    EXPECT_EQ(count(ptx, ".local"), 0) << ptx;
}

TEST(Ptx, BlocksOfOneWarpWaitForNoOther) {
    DeviceKernel k = kernel(R"(
        let t = gpu_thread_index(0)
        out[t] = src[t]:float32
        evaluate gpu_thread_barrier(1)
        out[t + 32] = out[31 - t]:float32)",
                            float_to_float);
    EXPECT_EQ(count(checked_ptx(k), "bar.sync"), 1);
    k.block_size[0] = 20;
    EXPECT_EQ(count(checked_ptx(k), "bar.sync"), 0);
    EXPECT_EQ(count(ptx_of(k), "bar.warp.sync"), 1) << ptx_of(k);
}

/// What the last step gave goes into the multiply-add, so that a step takes one instruction.
TEST(Ptx, RecurrencesWaitForOneInstructionAStep) {
    const std::string ptx = checked_ptx(kernel(R"(
        let t = gpu_thread_index(0)
        let a = src[t]:float32 * 0.25f + src[t + 128]:float32 * 0.75f
        let b = src[t + 256]:float32 * 0.25f + a:float32 * 0.75f
        out[t] = src[t + 384]:float32 * 0.25f + b:float32 * 0.75f)",
                                               float_to_float));
    EXPECT_EQ(count(ptx, "mul.rn.f32"), 3) << ptx;
    EXPECT_EQ(count(ptx, "fma.rn.f32"), 3) << ptx;
    EXPECT_EQ(ptx.rfind("mul.rn.f32") < ptx.rfind("fma.rn.f32"), true);
    // The last product is one of what was loaded.
    const std::string product = ptx.substr(ptx.rfind("mul.rn.f32"));
    const std::string factor =
        product.substr(product.find(", ") + 2, product.find(", 0f") - product.find(", ") - 2);
    EXPECT_EQ(count(ptx, "ld.global.nc.f32 \t" + factor), 1) << ptx;
}

TEST(Ptx, ProductsAreContractedUnlessStrict) {
    DeviceKernel k =
        pointwise("src[t]:float32 * src[t + 1]:float32 + src[t + 2]:float32", Float(32), Float(32));
    EXPECT_EQ(count(checked_ptx(k), "fma.rn.f32"), 1);
    PtxOptions strict;
    strict.features = {Target::StrictFloat};
    std::string ptx = checked_ptx(k, strict);
    EXPECT_EQ(count(ptx, "fma.rn.f32"), 0);
    EXPECT_EQ(count(ptx, "mul.rn.f32"), 1);
    EXPECT_EQ(count(ptx, "add.rn.f32"), 1);
}

TEST(Ptx, MinimaAreOneInstructionUnlessStrict) {
    DeviceKernel k = pointwise("min(src[t]:float32, src[t + 1]:float32)", Float(32), Float(32));
    EXPECT_EQ(count(checked_ptx(k), "min.f32"), 1);
    PtxOptions strict;
    strict.features = {Target::StrictFloat};
    EXPECT_EQ(count(checked_ptx(k, strict), "min.f32"), 0);
}

TEST(Ptx, RoundsDivisionsAndRootsAndEstimatesWhereAsked) {
    EXPECT_EQ(
        count(checked_ptx(pointwise("1.0f / src[t]:float32", Float(32), Float(32))), ".rn.f32"), 1);
    EXPECT_EQ(
        count(checked_ptx(pointwise("sqrt(src[t]:float32)", Float(32), Float(32))), "sqrt.rn.f32"),
        1);
    EXPECT_EQ(count(checked_ptx(pointwise("fast_inverse(src[t]:float32)", Float(32), Float(32))),
                    "rcp.approx.ftz.f32"),
              1);
    EXPECT_EQ(
        count(checked_ptx(pointwise("fast_inverse_sqrt(src[t]:float32)", Float(32), Float(32))),
              "rsqrt.approx.f32"),
        1);
}

// LLVM would divide each product, and by what only a reciprocal was asked of.
TEST(Ptx, DividesOnceWhatIsMultipliedByOthers) {
    std::string ptx = checked_ptx(kernel(R"(
        let t = gpu_thread_index(0)
        out[t] = out[t + 1024]:float32 / src[t]:float32 * src[t + 2]:float32
        out[t + 512] = out[t + 1024]:float32 / src[t]:float32 * src[t + 3]:float32)",
                                         float_to_float));
    EXPECT_EQ(count(ptx, "div.rn.f32"), 1) << ptx;

    ptx =
        checked_ptx(pointwise("1.0f / src[t]:float32 * src[t + 1]:float32", Float(32), Float(32)));
    EXPECT_EQ(count(ptx, "rcp.rn.f32"), 1) << ptx;
    EXPECT_EQ(count(ptx, "div.rn.f32"), 0) << ptx;
}

TEST(Ptx, DividesByConstantsInTwoMultiplicationsUnlessStrict) {
    DeviceKernel k = pointwise("src[t]:float32 / 65535.0f", Float(32), Float(32));
    std::string ptx = checked_ptx(k);
    EXPECT_EQ(count(ptx, "div"), 0);
    EXPECT_EQ(count(ptx, "mul.rn.f32"), 1);
    EXPECT_EQ(count(ptx, "fma.rn.f32"), 1);
    PtxOptions strict;
    strict.features = {Target::StrictFloat};
    EXPECT_EQ(count(checked_ptx(k, strict), "div.rn.f32"), 1);

    // A factor takes the constant up.
    ptx = checked_ptx(pointwise("src[t]:float32 / 65535.0f * 0.299f", Float(32), Float(32)));
    EXPECT_EQ(count(ptx, "mul.rn.f32"), 1);
    EXPECT_EQ(count(ptx, "fma.rn.f32") + count(ptx, "div"), 0);

    ptx = checked_ptx(pointwise("src[t]:float64 / (float64)3", Float(64), Float(64)));
    EXPECT_EQ(count(ptx, "mul.rn.f64"), 1);
    EXPECT_EQ(count(ptx, "fma.rn.f64"), 1);
    // The reciprocal's second half would be subnormal, or there is none.
    for (const char *divisor : {"3e34f", "1e-38f"}) {
        ptx = checked_ptx(
            pointwise(std::string("src[t]:float32 / ") + divisor, Float(32), Float(32)));
        EXPECT_EQ(count(ptx, "div.rn.f32"), 1) << divisor;
    }
}

TEST(Ptx, HalfIsComputedAsHalf) {
    DeviceKernel k =
        pointwise("src[t]:float16 * src[t + 1]:float16 + src[t + 2]:float16", Float(16), Float(16));
    std::string ptx = checked_ptx(k);
    EXPECT_EQ(count(ptx, "fma.rn.f16"), 1) << ptx;
    EXPECT_EQ(count(ptx, "cvt"), 0) << ptx;
    PtxOptions old;
    old.sm = 50;
    EXPECT_GT(count(checked_ptx(k, old), "cvt.f32.f16"), 0);
}

TEST(Ptx, PairsOfHalvesAreComputedTogether) {
    DeviceKernel k = kernel(R"(
        let t = gpu_thread_index(0)
        out[ramp(t * 2, 1, 2) align(2, 0)] = src[ramp(t * 2, 1, 2) align(2, 0)]:float16 +
            src[ramp(t * 2 + 512, 1, 2) align(2, 0)]:float16)",
                            {input("src", Float(16), 16), output("out", Float(16), 16)});
    std::string ptx = checked_ptx(k);
    EXPECT_EQ(count(ptx, "add.rn.f16x2") + count(ptx, "add.f16x2"), 1) << ptx;
}

TEST(Ptx, BFloat16IsRoundedByTheMachine) {
    DeviceKernel k = pointwise("src[t]:bfloat16 + src[t + 1]:bfloat16", BFloat(16), BFloat(16));
    EXPECT_EQ(count(checked_ptx(k), "cvt.rn.bf16.f32"), 1);
    PtxOptions new_one;
    new_one.sm = 90;
    EXPECT_EQ(count(checked_ptx(k, new_one), "add.rn.bf16"), 1) << ptx_of(k, new_one);
    PtxOptions old;
    old.sm = 70;
    EXPECT_EQ(count(checked_ptx(k, old), "cvt.rn.bf16"), 0);
}

TEST(Ptx, DotProductsOfBytes) {
    const char *body = R"(
        let t = gpu_thread_index(0)
        out[t] = dot_product_4x8(src[ramp(t * 4, 1, 4) align(4, 0)]:uint8,
            other[ramp(t * 4, 1, 4) align(4, 0)]:int8, out[t]):int32)";
    std::vector<KernelArgument> args = {input("src", UInt(8), 16), input("other", Int(8), 16),
                                        output("out", Int(32))};
    EXPECT_EQ(count(checked_ptx(kernel(body, args)), "dp4a.u32.s32"), 1);
    PtxOptions old;
    old.sm = 50;
    EXPECT_EQ(count(checked_ptx(kernel(body, args), old), "dp4a"), 0);
}

TEST(Ptx, SumsOfProductsOfBytesAreDotProducts) {
    const char *body = R"(
        let t = gpu_thread_index(0)
        out[t] = out[t] + vector_reduce(add, int32x8(src[ramp(t * 8, 1, 8) align(8, 0)]:uint8) *
            int32x8(other[ramp(t * 8, 1, 8) align(8, 0)]:int8), 1))";
    std::string ptx = checked_ptx(kernel(
        body, {input("src", UInt(8), 16), input("other", Int(8), 16), output("out", Int(32))}));
    EXPECT_EQ(count(ptx, "dp4a.u32.s32"), 2) << ptx;
    // What is added to is where the first one starts.
    EXPECT_EQ(count(ptx, "add.s32"), 0) << ptx;
}

TEST(Ptx, Shuffles) {
    struct {
        const char *call, *instruction;
    } rows[] = {
        {"warp_shuffle(src[t]:float32, 3)", "shfl.sync.idx.b32"},
        {"warp_shuffle(src[t]:float32, 1, 1)", "shfl.sync.up.b32"},
        {"warp_shuffle(src[t]:float32, 1, 2)", "shfl.sync.down.b32"},
        {"warp_shuffle(src[t]:float32, 16, 3)", "shfl.sync.bfly.b32"},
    };
    for (const auto &row : rows) {
        EXPECT_EQ(count(checked_ptx(pointwise(row.call, Float(32), Float(32))), row.instruction), 1)
            << row.call;
    }
    // Groups of 8: what all lanes of one have in common, and the last or first of them.
    const std::string down =
        checked_ptx(pointwise("warp_shuffle(src[t]:float32, 1, 2, 8)", Float(32), Float(32)));
    EXPECT_EQ(count(down, ", 1, 6175, -1"), 1) << down;
    const std::string up =
        checked_ptx(pointwise("warp_shuffle(src[t]:float32, 1, 1, 8)", Float(32), Float(32)));
    EXPECT_EQ(count(up, ", 1, 6144, -1"), 1) << up;
    EXPECT_EQ(
        count(checked_ptx(pointwise("warp_shuffle(src[t]:float64, 16, 3)", Float(64), Float(64))),
              "shfl.sync.bfly.b32"),
        2);
}

TEST(Ptx, AsynchronousCopies) {
    const char *body = R"(
        allocate tile[float32, 512] in gpu_shared
        let t = gpu_thread_index(0)
        evaluate gpu_async_copy(tile:handle, t * 4, src:handle, t * 4, 4):float32
        evaluate gpu_async_commit()
        evaluate gpu_async_wait(0)
        evaluate gpu_thread_barrier(2)
        out[t] = tile[511 - t]:float32)";
    DeviceKernel k = kernel(body, {input("src", Float(32), 16), output("out", Float(32))});
    std::string ptx = checked_ptx(k);
    EXPECT_EQ(count(ptx, "cp.async.cg.shared.global"), 1) << ptx;
    EXPECT_EQ(count(ptx, "cp.async.commit_group"), 1);
    EXPECT_EQ(count(ptx, "cp.async.wait_group 0"), 1);
    PtxOptions old;
    old.sm = 75;
    std::string plain = checked_ptx(k, old);
    EXPECT_EQ(count(plain, "cp.async"), 0);
    EXPECT_EQ(count(plain, "ld.global.nc.v4"), 1) << plain;
    EXPECT_EQ(count(plain, "st.shared.v4"), 1) << plain;
}

TEST(Ptx, CopiesOfTiles) {
    const char *body = R"(
        allocate tile[float16, 32768] in gpu_shared
        allocate arrivals[uint64, 2] in gpu_shared
        let t = gpu_thread_index(0)
        if (t == 0) {
          evaluate gpu_arrivals_begin(arrivals:handle, 0, 2, 1):int32
          evaluate gpu_arrivals_expect(arrivals:handle, 1, 65536):int32
          evaluate gpu_tile_copy(tile:handle, 0, arrivals:handle, 1, src:handle, 64, 512, 2, (float16)0.0, n, 3, 32):int32
        }
        evaluate gpu_arrivals_wait(arrivals:handle, 1, 0):int32
        if (t == 0) {
          evaluate gpu_arrivals_end(arrivals:handle, 0, 2):int32
        }
        out[t] = tile[t]:float16)";
    KernelArgument map;
    map.name = "src.tiles.64x256.2";
    map.type = Handle();
    map.is_tile_map = true;
    DeviceKernel k = kernel(body, {output("out", Float(16)), map, scalar("n", Int(32))});
    PtxOptions hopper;
    hopper.sm = 90;
    hopper.suffix = 'a';
    const std::string ptx = checked_ptx(k, hopper);
    EXPECT_EQ(count(ptx, ".param .align 64 .b8 "), 1) << ptx;  // in place: not copied
    EXPECT_EQ(count(ptx, "ld.param.b64") + count(ptx, "ld.param.u64"), 1) << ptx;
    EXPECT_EQ(count(ptx, "mbarrier.init"), 2);
    EXPECT_EQ(count(ptx, "fence.mbarrier_init"), 1);
    EXPECT_EQ(count(ptx, "mbarrier.arrive.expect_tx"), 1);
    EXPECT_EQ(count(ptx, "cp.async.bulk.tensor.3d"), 2) << "256 rows at a time";
    EXPECT_EQ(count(ptx, "mbarrier.try_wait.parity"), 1);
    EXPECT_EQ(count(ptx, "mbarrier.inval"), 2);
}

TEST(Ptx, Atomics) {
    struct {
        const char *update;
        Type type;
        const char *instruction;
    } rows[] = {
        {"out[0] = out[0]:float32 + 1.0f", Float(32), "atom.global.add.f32"},
        {"out[0] = out[0]:float64 + (float64)1", Float(64), "atom.global.add.f64"},
        {"out[0] = out[0] + 1", Int(32), "atom.global.add.u32"},
        {"out[0] = max(out[0], t)", Int(32), "atom.global.max.s32"},
        {"out[0] = min(out[0]:uint32, uint32(t))", UInt(32), "atom.global.min.u32"},
        {"out[0] = out[0]:float32 * 2.0f", Float(32), "atom.global.cas.b32"},
        {"out[0] = out[0]:uint8 + (uint8)1", UInt(8), "cas.b32"},
    };
    for (const auto &row : rows) {
        DeviceKernel k =
            kernel(std::string("let t = gpu_thread_index(0)\natomic out {") + row.update + "}",
                   {output("out", row.type)});
        EXPECT_GE(count(checked_ptx(k), row.instruction), 1) << row.update << ptx_of(k);
    }
}

// What several Funcs have in shared memory is one allocation, whose name is none of theirs.
TEST(Ptx, AtomicsAreSuchWhateverTheNameOfTheMemory) {
    const char *body = R"(
        let t = gpu_thread_index(0)
        allocate shared[int32, 64] in gpu_shared
        atomic f { shared[t % 4] = shared[t % 4] + 1 }
        out[t] = shared[t % 4])";
    EXPECT_EQ(count(checked_ptx(kernel(body, {output("out", Int(32))})), "atom.shared.add.u32"), 1);
}

TEST(Ptx, AtomicsThatReadTheElementInAnotherFormAreRefused) {
    const char *body = "atomic f { f[ramp(0, 1, 4)] = concat(f[ramp(0, 1, 2)], f[ramp(2, 1, 2)]) + "
                       "broadcast(1, 4) }";
    EXPECT_INTERNAL_ERROR_CONTAINING(ptx_of(kernel(body, {output("f", Int(32))})),
                                     "the atomic update of f at ramp(0, 1, 4) may read");
}

TEST(Ptx, AtomicsOnMemoryOfTheThreadArePlain) {
    const char *body = R"(
        let t = gpu_thread_index(0)
        allocate mine[int32, 64] in stack
        for (i, 0, 64) { mine[i] = i * t }
        for (i, 0, n) { atomic f { mine[i % 64] = mine[i % 64] + t } }
        out[t] = mine[t % 64])";
    const std::string ptx =
        checked_ptx(kernel(body, {output("out", Int(32)), scalar("n", Int(32))}));
    EXPECT_EQ(count(ptx, "atom."), 0) << ptx;
    EXPECT_GE(count(ptx, "st.local") + count(ptx, "st.u32"), 1) << ptx;
}

TEST(Ptx, RemaindersArePositive) {
    // One shift and one conjunction: no division.
    std::string ptx = checked_ptx(pointwise("src[t] / 8 + src[t] % 8", Int(32), Int(32)));
    EXPECT_EQ(count(ptx, "shr.s32"), 1);
    EXPECT_EQ(count(ptx, "and.b32"), 1);
    EXPECT_EQ(count(ptx, "div"), 0);
}

TEST(Ptx, MathWithAndWithoutLibdevice) {
    for (const char *name : {"sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh",
                             "asinh", "acosh", "atanh", "exp", "log", "erf"}) {
        for (Type t : {Float(32), Float(64), Float(16)}) {
            std::string load = "src[t]:float" + std::to_string(t.bits());
            DeviceKernel k = pointwise(std::string(name) + "(" + load + ")", t, t);
            PtxOptions options;
            options.sm = 120;  // assembled once
            expect_assembles(k, options);
            options.libdevice = true;
            expect_assembles(k, options);
        }
    }
    for (const char *name : {"pow", "atan2"}) {
        DeviceKernel k = pointwise(std::string(name) + "(src[t]:float32, src[t + 1]:float32)",
                                   Float(32), Float(32));
        PtxOptions options;
        options.sm = 120;
        expect_assembles(k, options);
        options.libdevice = true;
        expect_assembles(k, options);
    }
}

// The assembler of CUDA 13.0 makes wrong code of some of those of 16 bits: seen on sm_90.
TEST(Ptx, IsTheSameEachTime) {
    DeviceKernel k = pointwise("sin(src[t]:float32)", Float(32), Float(32));
    EXPECT_EQ(ptx_of(k), ptx_of(k));
}

}  // namespace

}  // namespace calotype::internal
