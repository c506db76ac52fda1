// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which values code generation is told nothing of, so that it does not compute them again.
#include <gtest/gtest.h>

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <string>
#include <vector>

#include "codegen/llvm/passes/opaque_choices.h"
#include "codegen/llvm/transformed.h"

namespace calotype::internal {

namespace {

/// Names of what a transformation freezes in a function of two blocks, the second of which is a loop.
std::vector<std::string> frozen(const std::string &entry, const std::string &loop,
                                void (*transformation)(llvm::Module &) = make_choices_opaque) {
    llvm::LLVMContext context;
    const std::string text = "declare i32 @llvm.smin.i32(i32, i32)\n"
                             "declare void @llvm.lifetime.start.p0(i64, ptr)\n"
                             "define void @f(i32 %a, i32 %b, i1 %c, <4 x i32> %v, ptr %to) {\n"
                             "entry:\n" +
                             entry +
                             "br label %loop\n"
                             "loop:\n" +
                             loop +
                             "br i1 %c, label %loop, label %end\n"
                             "end:\n"
                             "ret void\n"
                             "}\n";
    const auto module = transformed(text, context, transformation);
    std::vector<std::string> names;
    for (llvm::Instruction &i : llvm::instructions(*module->getFunction("f"))) {
        if (const auto *freeze = llvm::dyn_cast<llvm::FreezeInst>(&i)) {
            names.push_back(freeze->getOperand(0)->getName().str());
            EXPECT_TRUE(freeze->getOperand(0)->hasOneUse()) << names.back();
        }
    }
    return names;
}

using Names = std::vector<std::string>;

TEST(OpaqueChoices, BoundsThatALoopUses) {
    for (const char *value :
         {"call i32 @llvm.smin.i32(i32 %a, i32 %b)", "select i1 %c, i32 %a, i32 %b",
          "sdiv i32 %a, %b", "udiv i32 %a, %b", "srem i32 %a, %b", "urem i32 %a, %b",
          "ashr i32 %a, 3", "lshr i32 %a, 3"}) {
        EXPECT_EQ(frozen(std::string("%x = ") + value + "\n", "store i32 %x, ptr %to\n"),
                  Names{"x"})
            << value;
    }
}

TEST(OpaqueChoices, AllUsesAreOfWhatIsFrozen) {
    EXPECT_EQ(frozen("%x = sdiv i32 %a, %b\n"
                     "%y = call i32 @llvm.smin.i32(i32 %x, i32 %b)\n",
                     "store i32 %x, ptr %to\n"
                     "store i32 %y, ptr %to\n"),
              (Names{"x", "y"}));
}

TEST(OpaqueChoices, SumsVectorsConditionsAndWhatOneBlockUsesStay) {
    EXPECT_EQ(frozen("%x = add i32 %a, %b\n", "store i32 %x, ptr %to\n"), Names());
    EXPECT_EQ(frozen("%x = mul i32 %a, %b\n", "store i32 %x, ptr %to\n"), Names());
    EXPECT_EQ(frozen("%x = sdiv <4 x i32> %v, %v\n", "store <4 x i32> %x, ptr %to\n"), Names());
    EXPECT_EQ(frozen("%x = select i1 %c, i1 true, i1 false\n", "store i1 %x, ptr %to\n"), Names());
    EXPECT_EQ(frozen("%x = sdiv i32 %a, %b\nstore i32 %x, ptr %to\n", ""), Names());
}

TEST(OpaqueSums, WhatALoopAddsToIsFrozen) {
    for (const char *sum :
         {"add i32 %a, %b", "sub i32 %a, %b", "mul i32 %a, %b", "shl i32 %a, 2"}) {
        EXPECT_EQ(frozen(std::string("%x = ") + sum + "\n",
                         "%i = load i32, ptr %to\n"
                         "%y = add i32 %i, %x\n"
                         "store i32 %y, ptr %to\n",
                         make_sums_opaque),
                  Names{"x"})
            << sum;
    }
    EXPECT_EQ(frozen("%x = getelementptr i32, ptr %to, i32 %a\n",
                     "%i = load i32, ptr %to\n"
                     "%y = getelementptr i32, ptr %x, i32 %i\n"
                     "store i32 0, ptr %y\n",
                     make_sums_opaque),
              Names{"x"});
}

TEST(OpaqueSums, ThoseThatDifferByAConstantAreOne) {
    EXPECT_EQ(frozen("%x = getelementptr i32, ptr %to, i32 %a\n"
                     "%next = getelementptr i8, ptr %to, i32 20\n"
                     "%z = getelementptr i32, ptr %next, i32 %a\n",
                     "%i = load i32, ptr %to\n"
                     "%y = getelementptr i32, ptr %x, i32 %i\n"
                     "store i32 0, ptr %y\n"
                     "%w = getelementptr i32, ptr %z, i32 %i\n"
                     "store i32 1, ptr %w\n",
                     make_sums_opaque),
              Names{"x"});
}

TEST(OpaqueSums, FactorsArgumentsAndWhatTheLoopMakesStay) {
    EXPECT_EQ(frozen("%x = add i32 %a, %b\n",
                     "%i = load i32, ptr %to\n"
                     "%y = mul i32 %i, %x\n"
                     "%z = add i32 %y, %a\n"
                     "%w = add i32 %z, %i\n"
                     "store i32 %w, ptr %to\n",
                     make_sums_opaque),
              Names());
}

/// The blocks of the variables that make_sums_opaque freezes, where a loop over rows computes with `row` where each begins.
Names row_variables(const std::string &row) {
    llvm::LLVMContext context;
    const std::string text = "define void @f(ptr %from, ptr %to, i64 %stride, i64 %w, i64 %h) {\n"
                             "entry:\n"
                             "br label %rows\n"
                             "rows:\n"
                             "%y = phi i64 [ 0, %entry ], [ %y1, %row_end ]\n" +
                             row +
                             "br label %columns\n"
                             "columns:\n"
                             "%x = phi i64 [ 0, %rows ], [ %x1, %columns ]\n"
                             "%q = getelementptr i8, ptr %p, i64 %x\n"
                             "%v = load i8, ptr %q\n"
                             "store i8 %v, ptr %to\n"
                             "%x1 = add nsw i64 %x, 1\n"
                             "%more = icmp slt i64 %x1, %w\n"
                             "br i1 %more, label %columns, label %row_end\n"
                             "row_end:\n"
                             "%y1 = add nsw i64 %y, 1\n"
                             "%again = icmp slt i64 %y1, %h\n"
                             "br i1 %again, label %rows, label %end\n"
                             "end:\n"
                             "ret void\n"
                             "}\n";
    const auto module = transformed(text, context, make_sums_opaque);
    std::vector<std::string> variables;
    for (llvm::Instruction &i : llvm::instructions(*module->getFunction("f"))) {
        const auto *freeze = llvm::dyn_cast<llvm::FreezeInst>(&i);
        if (freeze && llvm::isa<llvm::PHINode>(freeze->getOperand(0))) {
            const auto *variable = llvm::cast<llvm::PHINode>(freeze->getOperand(0));
            variables.push_back(variable->getParent()->getName().str());
        }
    }
    return variables;
}

TEST(OpaqueSums, PlacesOfRowsAreVariablesOfTheLoopOverRows) {
    EXPECT_EQ(row_variables("%r = mul nsw i64 %y, %stride\n"
                            "%p = getelementptr i8, ptr %from, i64 %r\n"),
              Names{"rows"});
    EXPECT_EQ(row_variables("%r = mul nsw i64 %y, %stride\n"
                            "%s = sub nsw i64 %r, %h\n"
                            "%p = getelementptr i8, ptr %from, i64 %s\n"),
              Names{"rows"});
}

TEST(OpaqueSums, PlacesThatDoNotGrowByTheSameStay) {
    EXPECT_EQ(row_variables("%r = mul nsw i64 %y, %y\n"
                            "%p = getelementptr i8, ptr %from, i64 %r\n"),
              Names());
    EXPECT_EQ(row_variables("%r = mul nsw i64 %y, 64\n"
                            "%p = getelementptr i8, ptr %from, i64 %r\n"),
              Names());
}

/// What is frozen where `index` is computed of what `read` finds in storage of the frame.
Names frozen_for_index(const std::string &read, const std::string &index) {
    return frozen("%storage = alloca [64 x i8]\n"
                  "%slot = alloca [64 x i8]\n"
                  "call void @llvm.lifetime.start.p0(i64 64, ptr %storage)\n",
                  "%place = getelementptr i8, ptr %storage, i32 4\n" + read + index +
                      "%address = getelementptr i32, ptr %to, i32 %i\n"
                      "store i32 %a, ptr %address\n",
                  decide_indices);
}

/// Before the clamp, which bounds one value then.
TEST(DecidedIndices, WhatStorageHoldsIsOneValue) {
    const std::string clamp = "%i = call i32 @llvm.smin.i32(i32 %x, i32 7)\n";
    EXPECT_EQ(frozen_for_index("%x = load i32, ptr %place\n", clamp), Names{"x"});
    EXPECT_EQ(frozen_for_index("%x = load i8, ptr %place\n", "%i = zext i8 %x to i32\n"),
              Names{"x"});
    EXPECT_EQ(frozen_for_index("%x = load float, ptr %place\n", "%i = fptosi float %x to i32\n"),
              Names{"x"});
    EXPECT_EQ(frozen_for_index("%v4 = load <4 x i32>, ptr %place\n",
                               "%i = extractelement <4 x i32> %v4, i32 1\n"),
              Names{"v4"});
}

TEST(DecidedIndices, OtherMemoryAndOtherUsesStay) {
    EXPECT_EQ(frozen_for_index("%x = load i32, ptr %to\n", "%i = add i32 %x, 1\n"), Names());
    EXPECT_EQ(frozen_for_index("%x = load i32, ptr %slot\n", "%i = add i32 %x, 1\n"), Names());
    EXPECT_EQ(frozen_for_index("%x = load i32, ptr %place\nstore i32 %x, ptr %to\n",
                               "%i = add i32 %a, 1\n"),
              Names());
}

}  // namespace

}  // namespace calotype::internal
