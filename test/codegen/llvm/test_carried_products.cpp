// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products that a loop adds to what it carries.
#include <gtest/gtest.h>

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <string>

#include "codegen/llvm/transformed.h"
#include "codegen/x86/carried_products.h"

namespace calotype::internal {

namespace {

/// How many operations %before goes through until it is what the next iteration begins with, in a loop that adds so many
/// squares of words to it, and does `work` besides.
int operations_on_carried(int squares, const char *target, const std::string &work = "",
                          const std::string &first = "%before") {
    std::string sum;
    for (int i = 0; i < squares; i++) {
        const std::string n = std::to_string(i);
        sum += "%p" + n + " = getelementptr i16, ptr %from, i64 " + n + "\n" + "%v" + n +
               " = load <8 x i16>, ptr %p" + n + "\n" + "%x" + n + " = sext <8 x i16> %v" + n +
               " to <8 x i32>\n" + "%m" + n + " = mul <8 x i32> %x" + n + ", %x" + n + "\n" + "%s" +
               n + " = add <8 x i32> " + (i == 0 ? first : "%s" + std::to_string(i - 1)) + ", %m" +
               n + "\n";
    }
    const std::string text =
        "declare <8 x i32> @llvm.x86.avx512.vpdpwssd.256(<8 x i32>, <8 x i32>, "
        "<8 x i32>)\n"
        "define <8 x i32> @f(ptr noalias %in, ptr noalias %out, <8 x i32> %a, "
        "i64 %n) {\n"
        "entry:\n"
        "br label %loop\n"
        "loop:\n"
        "%i = phi i64 [ 0, %entry ], [ %j, %loop ]\n"
        "%before = phi <8 x i32> [ %a, %entry ], [ %s" +
        std::to_string(squares - 1) +
        ", %loop ]\n"
        "%from = getelementptr i16, ptr %in, i64 %i\n" +
        work + sum +
        "%j = add i64 %i, 1\n"
        "%more = icmp slt i64 %j, %n\n"
        "br i1 %more, label %loop, label %end\n"
        "end:\n"
        "ret <8 x i32> %s" +
        std::to_string(squares - 1) + "\n}\n";
    llvm::LLVMContext context;
    const auto module = transformed(
        text, context, [&](llvm::Module &m) { add_products_before_carried(m, Target(target)); });
    const llvm::Value *carried = nullptr;
    for (const llvm::Instruction &i : llvm::instructions(*module->getFunction("f"))) {
        carried = i.getName() == "before" ? &i : carried;
    }
    const llvm::Value *end = llvm::cast<llvm::PHINode>(carried)->getIncomingValue(1);
    int operations = 0;
    for (const llvm::Value *v = carried; v != end; v = *v->user_begin()) {
        operations++;
    }
    return operations;
}

constexpr char vnni[] = "x86-64-linux-avx512_zen4";

TEST(CarriedProducts, AreAddedUpFirst) {
    EXPECT_EQ(operations_on_carried(2, vnni), 1);
    EXPECT_EQ(operations_on_carried(20, vnni), 1);
    EXPECT_EQ(operations_on_carried(20, "x86-64-linux-avx2-avxvnni"), 1);
}

TEST(CarriedProducts, AlsoThoseOfInstructions) {
    const std::string two =
        "%d = call <8 x i32> @llvm.x86.avx512.vpdpwssd.256(<8 x i32> %before, <8 x i32> %a, <8 x "
        "i32> %a)\n"
        "%e = call <8 x i32> @llvm.x86.avx512.vpdpwssd.256(<8 x i32> %d, <8 x i32> %a, <8 x i32> "
        "%a)\n";
    EXPECT_EQ(operations_on_carried(1, vnni, two, "%e"), 1);
}

/// A product and a sum are one instruction already, and other machines have two.
TEST(CarriedProducts, StayWhereNothingWaits) {
    EXPECT_EQ(operations_on_carried(1, vnni), 1);
    EXPECT_EQ(operations_on_carried(3, "x86-64-linux-avx2"), 3);
    std::string much_work;
    for (int i = 0; i < 60; i++) {
        const std::string n = std::to_string(i);
        much_work +=
            "%w" + n + " = xor i64 %i, " + n + "\n" + "store volatile i64 %w" + n + ", ptr %out\n";
    }
    EXPECT_EQ(operations_on_carried(3, vnni, much_work), 3);
}

}  // namespace

}  // namespace calotype::internal
