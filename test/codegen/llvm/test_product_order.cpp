// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which term of a sum is added last.
#include <gtest/gtest.h>

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <string>

#include "codegen/llvm/passes/product_order.h"
#include "codegen/llvm/transformed.h"

namespace calotype::internal {

namespace {

/// The name of what is added last to %sum, in a loop in which %before is what the iteration before made, and %stored what the
/// one before that has stored.
std::string added_last(const std::string &terms) {
    llvm::LLVMContext context;
    const std::string text =
        "define void @f(ptr noalias %in, ptr noalias %out, float %a, float %b, i64 %n) {\n"
        "entry:\n"
        "br label %loop\n"
        "loop:\n"
        "%i = phi i64 [ 2, %entry ], [ %next, %loop ]\n"
        "%before = phi float [ 0.0, %entry ], [ %sum, %loop ]\n"
        "%from = getelementptr float, ptr %in, i64 %i\n"
        "%x = load float, ptr %from\n"
        "%second = sub i64 %i, 2\n"
        "%q = getelementptr float, ptr %out, i64 %second\n"
        "%stored = load float, ptr %q\n"
        "%ax = fmul fast float %x, %a\n"
        "%carried = fmul fast float %before, %b\n"
        "%forwarded = fmul fast float %stored, %a\n" +
        terms +
        "%to = getelementptr float, ptr %out, i64 %i\n"
        "store float %sum, ptr %to\n"
        "%next = add i64 %i, 1\n"
        "%more = icmp slt i64 %next, %n\n"
        "br i1 %more, label %loop, label %end\n"
        "end:\n"
        "ret void\n}\n";
    const auto module = transformed(text, context, add_late_terms_last);
    for (const llvm::Instruction &i : llvm::instructions(*module->getFunction("f"))) {
        if (const auto *store = llvm::dyn_cast<llvm::StoreInst>(&i)) {
            return llvm::cast<llvm::Instruction>(store->getValueOperand())
                ->getOperand(1)
                ->getName()
                .str();
        }
    }
    return "";
}

TEST(ProductOrder, WhatComesRoundTheLoopIsAddedLast) {
    EXPECT_EQ(added_last("%s = fadd fast float %carried, %ax\n"
                         "%sum = fadd fast float %s, %x\n"),
              "carried");
    EXPECT_EQ(added_last("%s = fsub fast float %x, %carried\n"
                         "%sum = fadd fast float %s, %ax\n"),
              "carried");
    EXPECT_EQ(added_last("%s = fadd fast float %carried, %forwarded\n"
                         "%sum = fadd fast float %s, %ax\n"),
              "carried");
}

TEST(ProductOrder, AlsoOutOfBrackets) {
    EXPECT_EQ(added_last("%s = fadd fast float %ax, %carried\n"
                         "%sum = fadd fast float %s, %x\n"),
              "carried");
    EXPECT_EQ(added_last("%s = fadd fast float %ax, %carried\n"
                         "%t = fmul fast float %s, %s\n"
                         "%sum = fadd fast float %s, %t\n"),
              "t");
}

TEST(ProductOrder, WhatWasStoredAnIterationBeforeIsLateToo) {
    EXPECT_EQ(added_last("%s = fadd fast float %forwarded, %x\n"
                         "%sum = fadd fast float %s, %ax\n"),
              "forwarded");
}

/// A sum of products in an accumulator takes an operation more where that is added last.
TEST(ProductOrder, AccumulatorsStayFirst) {
    EXPECT_EQ(added_last("%xx = fmul fast float %x, %x\n"
                         "%s = fadd fast float %before, %ax\n"
                         "%sum = fadd fast float %s, %xx\n"),
              "xx");
}

TEST(ProductOrder, NotWhereSumsKeepTheirOrder) {
    EXPECT_EQ(added_last("%s = fadd contract float %carried, %ax\n"
                         "%sum = fadd contract float %s, %x\n"),
              "x");
}

}  // namespace

}  // namespace calotype::internal
