// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gathers that are one instruction until the end, and loads of lanes then.
#include <gtest/gtest.h>

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <map>
#include <string>

#include "codegen/llvm/passes/lane_gathers.h"
#include "codegen/llvm/transformed.h"

namespace calotype::internal {

namespace {

/// How many instructions of each kind a function has after its marked gathers were taken apart.
std::map<std::string, int> instructions_of(const std::string &body) {
    llvm::LLVMContext context;
    const std::string text =
        "declare <4 x i16> @llvm.masked.gather.v4i16.v4p0(<4 x ptr>, i32, <4 x i1>, <4 x i16>)\n"
        "define <4 x i16> @f(ptr %p, ptr %q, <4 x ptr> %all, <4 x i8> %i8, <4 x i16> %i16,\n"
        "                    <4 x i32> %i32, <4 x i64> %i64, <4 x i1> %mask) {\n" +
        body + "}\nattributes #0 = { \"calotype.by_lanes\" }\n";
    const auto module = transformed(text, context, take_lanes_apart);
    std::map<std::string, int> counts;
    for (const llvm::Instruction &i : llvm::instructions(*module->getFunction("f"))) {
        counts[i.getOpcodeName()]++;
    }
    return counts;
}

std::string gather(const std::string &result, const std::string &pointers,
                   const std::string &suffix = " #0") {
    return result + " = call <4 x i16> @llvm.masked.gather.v4i16.v4p0(<4 x ptr> " + pointers +
           ", i32 2, <4 x i1> splat (i1 true), <4 x i16> poison)" + suffix + "\n";
}

std::string indexed(const std::string &extension) {
    return extension + "%a = getelementptr i16, ptr %p, <4 x i64> %x\n" + gather("%r", "%a") +
           "ret <4 x i16> %r\n";
}

TEST(LaneGathers, AreLoadsOfEachLane) {
    auto counts = instructions_of(indexed("%x = sext <4 x i32> %i32 to <4 x i64>\n"));
    EXPECT_EQ(counts["load"], 4);
    EXPECT_EQ(counts["insertelement"], 4);
    EXPECT_EQ(counts["call"], 0);
}

TEST(LaneGathers, TwoLanesOfAnIndexLeaveTheRegisterTogether) {
    for (const char *extension :
         {"%x = sext <4 x i32> %i32 to <4 x i64>\n", "%x = zext nneg <4 x i32> %i32 to <4 x i64>\n",
          "%x = zext <4 x i16> %i16 to <4 x i64>\n", "%x = sext <4 x i8> %i8 to <4 x i64>\n"}) {
        EXPECT_EQ(instructions_of(indexed(extension))["extractelement"], 2) << extension;
    }
    // The upper half of 32 bits would be taken for negative.
    for (const char *extension :
         {"%x = zext <4 x i32> %i32 to <4 x i64>\n", "%x = add <4 x i64> %i64, splat (i64 1)\n"}) {
        EXPECT_EQ(instructions_of(indexed(extension))["extractelement"], 4) << extension;
    }
}

TEST(LaneGathers, ThatShareAnIndexShareItsLanes) {
    auto counts = instructions_of("%x = sext <4 x i32> %i32 to <4 x i64>\n"
                                  "%a = getelementptr i16, ptr %p, <4 x i64> %x\n"
                                  "%b = getelementptr i16, ptr %q, <4 x i64> %x\n" +
                                  gather("%r", "%a") + gather("%s", "%b") +
                                  "%t = add <4 x i16> %r, %s\n"
                                  "ret <4 x i16> %t\n");
    EXPECT_EQ(counts["load"], 8);
    EXPECT_EQ(counts["extractelement"], 2);
}

TEST(LaneGathers, OfAddressesWithoutABase) {
    auto counts = instructions_of(gather("%r", "%all") + "ret <4 x i16> %r\n");
    EXPECT_EQ(counts["load"], 4);
    EXPECT_EQ(counts["extractelement"], 4);
}

TEST(LaneGathers, OthersStay) {
    auto counts = instructions_of(gather("%r", "%all", "") + "ret <4 x i16> %r\n");
    EXPECT_EQ(counts["load"], 0);
    EXPECT_EQ(counts["call"], 1);
}

}  // namespace

}  // namespace calotype::internal
