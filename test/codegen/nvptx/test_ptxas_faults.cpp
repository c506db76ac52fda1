// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instructions that ptxas makes wrong code of are not in the text that it gets.
#include <gtest/gtest.h>

#include "codegen/nvptx/device_module.h"

namespace calotype::internal {

namespace {

TEST(PtxasFaults, MinimaOf16BitsAreDoneIn32) {
    std::string ptx = checked_ptx(
        pointwise("max(min(src[t]:int16, src[t + 1]:int16), (int16)-3)", Int(16), Int(16)));
    EXPECT_EQ(count(ptx, "min.s16") + count(ptx, "max.s16"), 0) << ptx;
    EXPECT_EQ(count(ptx, "min.s32"), 1) << ptx;
    EXPECT_EQ(count(ptx, "max.s32"), 1) << ptx;
    ptx = checked_ptx(pointwise("max(src[t]:uint16, (uint16)65000)", UInt(16), UInt(16)));
    EXPECT_EQ(count(ptx, "max.u16"), 0) << ptx;
    EXPECT_EQ(count(ptx, "max.u32"), 1) << ptx;
}

TEST(PtxasFaults, SaturatingSumsOf16BitsHaveNoMinimaOf16Bits) {
    for (const Type &t : {Int(8), UInt(8), Int(16), UInt(16)}) {
        const std::string load = ":" + to_string(t);
        for (const char *function : {"saturating_add", "saturating_sub"}) {
            const std::string ptx = checked_ptx(pointwise(
                std::string(function) + "(src[t]" + load + ", src[t + 1]" + load + ")", t, t));
            for (const char *choice : {"min.s16", "max.s16", "min.u16", "max.u16"}) {
                EXPECT_EQ(count(ptx, choice), 0) << ptx;
            }
        }
    }
}

// Those that loops for atomic updates compute, too.
TEST(PtxasFaults, AtomicMinimaOf16BitsAreDoneIn32) {
    for (const Type &t : {Int(8), UInt(8), Int(16), UInt(16)}) {
        const std::string type = ":" + to_string(t);
        for (const char *choice : {"min", "max"}) {
            const std::string update =
                std::string("out[0] = ") + choice + "(out[0]" + type + ", src[t]" + type + ")";
            const std::string ptx =
                checked_ptx(kernel("let t = gpu_thread_index(0)\natomic out {" + update + "}",
                                   {input("src", t), output("out", t)}));
            EXPECT_EQ(count(ptx, "atom.global.cas.b32"), 1) << ptx;
            EXPECT_EQ(count(ptx, std::string(choice) + ".s16") +
                          count(ptx, std::string(choice) + ".u16"),
                      0)
                << ptx;
        }
    }
}

TEST(PtxasFaults, NegationsAreComplementsPlusOne) {
    for (const Type &t : {Int(16), Int(32)}) {
        const std::string type = "int" + std::to_string(t.bits());
        const std::string value = "src[t]:" + type;
        std::string ptx = checked_ptx(pointwise(
            "max(min((" + type + ")0 - " + value + ", (" + type + ")7), (" + type + ")-9)", t, t));
        EXPECT_EQ(count(ptx, "neg.s"), 0) << ptx;
        EXPECT_EQ(count(ptx, "not.b"), 1) << ptx;
    }
}

// That of CUDA 13.0 loses what is added to one half where the other half has no value.
TEST(PtxasFaults, SumsOf16BitsAreDoneLaneByLane) {
    PtxOptions options;
    options.sm = 90;
    options.suffix = 'a';
    for (const int lanes : {2, 3, 4, 5}) {
        const std::string n = std::to_string(lanes), index = "[ramp(t, n, " + n + ")]";
        const std::string two = "broadcast((int16)2, " + n + ")";
        const std::string value = "src" + index + ":int16";
        const std::string ptx = checked_ptx(
            kernel("let t = gpu_thread_index(0)\n out" + index + " = (" + value + " + " + two +
                       ") * " + value + " - " + two,
                   {input("src", Int(16)), output("out", Int(16)), scalar("n", Int(32))}),
            options);
        EXPECT_EQ(count(ptx, "16x2"), 0) << ptx;
    }
}

// ptxas of CUDA 13.0 takes what has no value on one way for whatever another load gives.
TEST(PtxasFaults, LanesThatAreNotLoadedAreZero) {
    for (const char *stride : {"1", "n"}) {
        const std::string access =
            "[ramp(t * 4, " + std::string(stride) + ", 4) if ramp(t * 4, 1, 4) < broadcast(n, 4)]";
        std::string ptx = checked_ptx(
            kernel("let t = gpu_thread_index(0)\n out" + access + " = src" + access + ":int64x4",
                   {input("src", Int(64)), output("out", Int(64)), scalar("n", Int(32))}));
        EXPECT_EQ(count(ptx, "ld.global"), 4) << ptx;
        EXPECT_GE(count(ptx, "mov.u64 \t%rd"), 4) << ptx;
    }
}

}  // namespace

}  // namespace calotype::internal
