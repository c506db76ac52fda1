// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which parts of addresses are added before a loop.
#include <gtest/gtest.h>

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <string>

#include "codegen/llvm/passes/uniform_offsets.h"
#include "codegen/llvm/transformed.h"

namespace calotype::internal {

namespace {

/// The number of addresses that are made before a loop, whose body has an index %j of two parts.
int hoisted(const std::string &index, const std::string &body) {
    llvm::LLVMContext context;
    const std::string text = "define void @f(ptr %table, ptr %other, ptr %in, i64 %row, i64 %n) {\n"
                             "before:\n"
                             "br label %loop\n"
                             "loop:\n"
                             "%i = phi i64 [ 0, %before ], [ %next, %loop ]\n"
                             "%place = getelementptr i8, ptr %in, i64 %i\n"
                             "%value = load i8, ptr %place\n"
                             "%wide = zext i8 %value to i64\n"
                             "%j = " +
                             index + "\n" + body +
                             "%next = add i64 %i, 1\n"
                             "%more = icmp slt i64 %next, %n\n"
                             "br i1 %more, label %loop, label %end\n"
                             "end:\n"
                             "ret void\n}\n";
    const auto module = transformed(text, context, hoist_uniform_offsets);
    int count = 0;
    for (const llvm::Instruction &i : module->getFunction("f")->getEntryBlock()) {
        count += llvm::isa<llvm::GetElementPtrInst>(i);
    }
    return count;
}

const std::string update = "%p = getelementptr inbounds i32, ptr %table, i64 %j\n"
                           "store i32 0, ptr %p\n";

TEST(UniformOffsets, OfARowOfATable) {
    EXPECT_EQ(hoisted("or disjoint i64 %row, %wide", update), 1);
    EXPECT_EQ(hoisted("or disjoint i64 %wide, %row", update), 1);
    EXPECT_EQ(hoisted("or disjoint i64 %row, %wide", "%p = getelementptr i32, ptr %table, i64 %j\n"
                                                     "%q = getelementptr i32, ptr %table, i64 %j\n"
                                                     "%x = load i32, ptr %p\n"
                                                     "store i32 %x, ptr %q\n"),
              1);
}

TEST(UniformOffsets, NotWhereTheBitsMayBeInBothParts) {
    EXPECT_EQ(hoisted("or i64 %row, %wide", update), 0);
}

TEST(UniformOffsets, NotOfCountersAndConstants) {
    EXPECT_EQ(hoisted("or disjoint i64 %row, %i", update), 0);
    EXPECT_EQ(hoisted("or disjoint i64 %wide, 256", update), 0);
}

TEST(UniformOffsets, NotWhereTheIndexIsNeededOtherwise) {
    EXPECT_EQ(hoisted("or disjoint i64 %row, %wide", update + "store i64 %j, ptr %other\n"), 0);
    EXPECT_EQ(hoisted("or disjoint i64 %row, %wide",
                      update + "%q = getelementptr i32, ptr %other, i64 %j\n"
                               "store i32 1, ptr %q\n"),
              0);
}

}  // namespace

}  // namespace calotype::internal
