// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Changes of what comes round a loop that depend on it.
#include <gtest/gtest.h>

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <string>

#include "codegen/llvm/passes/carried_choices.h"
#include "codegen/llvm/transformed.h"

namespace calotype::internal {

namespace {

/// What makes %next in a loop that carries it as %before: the operation, and those of its operands that the loop computes.
std::string made_by(const std::string &type, const std::string &body) {
    llvm::LLVMContext context;
    const std::string text = "define void @f(ptr noalias %in, ptr noalias %out, " + type +
                             " %a, i64 %n) {\n"
                             "entry:\n"
                             "br label %loop\n"
                             "loop:\n"
                             "%i = phi i64 [ 0, %entry ], [ %j, %loop ]\n"
                             "%before = phi " +
                             type +
                             " [ %a, %entry ], [ %next, %loop ]\n"
                             "%from = getelementptr " +
                             type +
                             ", ptr %in, i64 %i\n"
                             "%x = load " +
                             type + ", ptr %from\n" + body + "%to = getelementptr " + type +
                             ", ptr %out, i64 %i\n"
                             "store " +
                             type +
                             " %next, ptr %to\n"
                             "%j = add i64 %i, 1\n"
                             "%more = icmp slt i64 %j, %n\n"
                             "br i1 %more, label %loop, label %end\n"
                             "end:\n"
                             "ret void\n}\n";
    const auto module = transformed(text, context, compute_both_choices);
    std::string made;
    for (const llvm::Instruction &i : llvm::instructions(*module->getFunction("f"))) {
        if (i.getName() == "next") {
            made = i.getOpcodeName();
            for (const llvm::Value *operand : i.operands()) {
                if (const auto *of = llvm::dyn_cast<llvm::Instruction>(operand)) {
                    made += std::string(" ") + of->getOpcodeName();
                }
            }
        }
    }
    return made;
}

TEST(CarriedChoices, BothResultsAreThereWhenOneIsTaken) {
    const std::string sum = "%v = add i32 %before, %x\n"
                            "%c = icmp sgt i32 %v, 127\n";
    EXPECT_EQ(made_by("i32", sum + "%d = select i1 %c, i32 255, i32 0\n"
                                   "%next = sub i32 %v, %d\n"),
              "select icmp sub add");
    EXPECT_EQ(made_by("i32", sum + "%d = select i1 %c, i32 0, i32 %a\n"
                                   "%next = add i32 %d, %v\n"),
              "select icmp add add");
    EXPECT_EQ(made_by("i32", sum + "%d = select i1 %c, i32 79, i32 0\n"
                                   "%w = xor i32 %v, %d\n"
                                   "%next = xor i32 %w, %x\n"),
              "xor select load");
}

TEST(CarriedChoices, FloatsWhoseZeroChangesNothing) {
    const std::string sum = "%v = fadd float %before, %x\n"
                            "%c = fcmp ogt float %v, 0.5\n"
                            "%d = select i1 %c, float 1.0, float 0.0\n";
    EXPECT_EQ(made_by("float", sum + "%next = fsub float %v, %d\n"), "select fcmp fsub fadd");
    EXPECT_EQ(made_by("float", sum + "%next = fadd nsz float %v, %d\n"), "select fcmp fadd fadd");
    // -0.0 + 0.0 is 0.0.
    EXPECT_EQ(made_by("float", sum + "%next = fadd float %v, %d\n"), "fadd fadd select");
}

/// Of vectors of integers a choice takes no less time than a mask.
TEST(CarriedChoices, VectorsOfFloats) {
    EXPECT_EQ(made_by("<4 x float>", "%v = fadd <4 x float> %before, %x\n"
                                     "%c = fcmp ogt <4 x float> %v, %a\n"
                                     "%d = select <4 x i1> %c, <4 x float> %a, <4 x float> "
                                     "zeroinitializer\n"
                                     "%next = fsub <4 x float> %v, %d\n"),
              "select fcmp fsub fadd");
    EXPECT_EQ(made_by("<4 x i32>", "%v = add <4 x i32> %before, %x\n"
                                   "%c = icmp sgt <4 x i32> %v, %a\n"
                                   "%d = select <4 x i1> %c, <4 x i32> %a, <4 x i32> "
                                   "zeroinitializer\n"
                                   "%next = sub <4 x i32> %v, %d\n"),
              "sub add select");
}

TEST(CarriedChoices, OthersStay) {
    // The remainder of a checksum, bit by bit: the condition is there as soon as what is changed.
    EXPECT_EQ(made_by("i32", "%v = shl i32 %before, 1\n"
                             "%c = icmp slt i32 %before, 0\n"
                             "%d = select i1 %c, i32 79764919, i32 0\n"
                             "%w = xor i32 %v, %d\n"
                             "%next = xor i32 %w, %x\n"),
              "xor xor load");
    // The choice is there before what comes round.
    EXPECT_EQ(made_by("i32", "%c = icmp sgt i32 %x, 127\n"
                             "%d = select i1 %c, i32 255, i32 0\n"
                             "%next = sub i32 %before, %d\n"),
              "sub phi select");
    // What is chosen is computed from what comes round.
    EXPECT_EQ(made_by("i32", "%v = add i32 %before, %x\n"
                             "%c = icmp sgt i32 %v, 127\n"
                             "%w = mul i32 %v, 5\n"
                             "%d = select i1 %c, i32 %w, i32 0\n"
                             "%next = sub i32 %v, %d\n"),
              "sub add select");
    EXPECT_EQ(made_by("i32", "%v = add i32 %before, %x\n"
                             "%c = icmp sgt i32 %v, 127\n"
                             "%d = select i1 %c, i32 255, i32 0\n"
                             "%next = sub i32 %d, %v\n"),
              "sub select add");
}

}  // namespace

}  // namespace calotype::internal
