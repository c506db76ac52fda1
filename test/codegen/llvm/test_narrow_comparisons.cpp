// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Comparisons of lanes that are constants apart with one value.
#include <gtest/gtest.h>

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <string>

#include "codegen/llvm/passes/narrow_comparisons.h"
#include "codegen/llvm/transformed.h"

namespace calotype::internal {

namespace {

std::string numbers(int step, int first = 0) {
    std::string all = "<";
    for (int i = 0; i < 32; i++) {
        all += (i ? ", i32 " : "i32 ") + std::to_string(first + i * step);
    }
    return all + ">\n";
}

const std::string choice =
    "%v = select <32 x i1> %m, <32 x i8> %a, <32 x i8> %b\nret <32 x i8> %v\n";

/// Bits of the lanes that are compared in a function of bytes a and b that compares with x and end.
unsigned compared_bits(const std::string &body, const std::string &target = "avx2") {
    llvm::LLVMContext context;
    const std::string text =
        "define <32 x i8> @f(<32 x i8> %a, <32 x i8> %b, i32 %x, i32 %end, <32 x i32> %any) {\n"
        "%x0 = insertelement <32 x i32> poison, i32 %x, i64 0\n"
        "%xs = shufflevector <32 x i32> %x0, <32 x i32> poison, <32 x i32> zeroinitializer\n"
        "%e0 = insertelement <32 x i32> poison, i32 %end, i64 0\n"
        "%ends = shufflevector <32 x i32> %e0, <32 x i32> poison, <32 x i32> zeroinitializer\n" +
        body + "}\n";
    const auto module = transformed(text, context, [&](llvm::Module &m) {
        compare_lanes_narrowly(m, Target("x86-64-linux-" + target));
    });
    for (const llvm::Instruction &i : llvm::instructions(*module->getFunction("f"))) {
        if (llvm::isa<llvm::ICmpInst>(i)) {
            return i.getOperand(0)->getType()->getScalarSizeInBits();
        }
    }
    return 0;
}

TEST(NarrowComparisons, AreOfWhatIsChosen) {
    const std::string ramp = "%r = add nsw <32 x i32> %xs, " + numbers(1);
    for (const char *comparison : {"slt <32 x i32> %r, %ends", "sle <32 x i32> %ends, %r",
                                   "sgt <32 x i32> %ends, %r", "eq <32 x i32> %r, %ends"}) {
        EXPECT_EQ(compared_bits(ramp + "%m = icmp " + comparison + "\n" + choice), 8u)
            << comparison;
    }
    EXPECT_EQ(compared_bits("%m = icmp ult <32 x i32> " +
                            numbers(1).substr(0, numbers(1).size() - 1) + ", %ends\n" + choice),
              8u);
}

TEST(NarrowComparisons, HoldAllDistances) {
    const auto bits = [&](int step, int first = 0) {
        return compared_bits("%r = add nsw <32 x i32> %xs, " + numbers(step, first) +
                             "%m = icmp slt <32 x i32> %r, %ends\n" + choice);
    };
    EXPECT_EQ(bits(4), 8u);
    EXPECT_EQ(bits(-4), 8u);
    EXPECT_EQ(bits(4, 2), 8u);
    // 127 is what is larger than that, too.
    EXPECT_EQ(bits(4, 3), 16u);
    EXPECT_EQ(bits(40), 16u);
    EXPECT_EQ(bits(4000), 32u);
}

TEST(NarrowComparisons, AreOfMasksThatAreJoined) {
    const std::string masks = "%r = add nsw <32 x i32> %xs, " + numbers(1) +
                              "%m0 = icmp slt <32 x i32> %r, %ends\n"
                              "%c = icmp eq <32 x i8> %a, %b\n"
                              "%m = and <32 x i1> %m0, %c\n";
    EXPECT_EQ(compared_bits(masks + choice), 8u);
}

TEST(NarrowComparisons, StayWhereSumsWrapOrWideLanesAreChosen) {
    const std::string less = "%m = icmp slt <32 x i32> %r, %ends\n";
    EXPECT_EQ(compared_bits("%r = add <32 x i32> %xs, " + numbers(1) + less + choice), 32u);
    EXPECT_EQ(compared_bits("%m = icmp slt <32 x i32> %any, %ends\n" + choice), 32u);
    EXPECT_EQ(compared_bits("%r = add nsw <32 x i32> %xs, " + numbers(1) + less +
                            "%w = select <32 x i1> %m, <32 x i32> %any, <32 x i32> %xs\n"
                            "%v = trunc <32 x i32> %w to <32 x i8>\nret <32 x i8> %v\n"),
              32u);
}

TEST(NarrowComparisons, StayWhereTheyTakeFewRegisters) {
    const std::string body = "%r = add nsw <32 x i32> %xs, " + numbers(1) +
                             "%m = icmp slt <32 x i32> %r, %ends\n" + choice;
    EXPECT_EQ(compared_bits(body, "avx512_skylake"), 32u);
    EXPECT_EQ(compared_bits(body, "sse41"), 8u);
}

}  // namespace

}  // namespace calotype::internal
