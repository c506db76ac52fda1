// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which addresses LLVM may take for places in one object.
#include <gtest/gtest.h>

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PassManager.h>

#include <string>
#include <vector>

#include "codegen/llvm/passes/inbounds_neighbours.h"
#include "codegen/llvm/transformed.h"

namespace calotype::internal {

namespace {

using Names = std::vector<std::string>;

/// Names of the addresses in a function that are marked as inbounds.
Names inbounds(const std::string &body) {
    llvm::LLVMContext context;
    const std::string text = "declare void @other()\n"
                             "define void @f(ptr %base, i64 %i, i1 %c) {\n"
                             "%p = getelementptr i8, ptr %base, i64 %i\n"
                             "%q = getelementptr i8, ptr %p, i64 1\n" +
                             body + "ret void\n}\n";
    const auto module = transformed(text, context, [](llvm::Module &m) {
        llvm::FunctionAnalysisManager analyses;
        MarkInboundsNeighbours().run(*m.getFunction("f"), analyses);
    });
    Names names;
    for (const llvm::Instruction &i : llvm::instructions(*module->getFunction("f"))) {
        const auto *address = llvm::dyn_cast<llvm::GetElementPtrInst>(&i);
        if (address && address->isInBounds()) {
            names.push_back(address->getName().str());
        }
    }
    return names;
}

TEST(InboundsNeighbours, BothAreAccessed) {
    EXPECT_EQ(inbounds("store i8 0, ptr %p\nstore i8 0, ptr %q\n"), Names{"q"});
    EXPECT_EQ(inbounds("%x = load i8, ptr %q\nstore i8 %x, ptr %p\n"), Names{"q"});
    EXPECT_EQ(inbounds("%n = getelementptr i8, ptr %p, i64 -4\n"
                       "%x = load i8, ptr %p\n"
                       "store i8 %x, ptr %n\n"),
              Names{"n"});
}

TEST(InboundsNeighbours, OneOfBothMayNotBeAccessed) {
    EXPECT_EQ(inbounds("store i8 0, ptr %q\n"), Names());
    EXPECT_EQ(inbounds("store i8 0, ptr %q\nstore ptr %p, ptr %base\n"), Names());
    EXPECT_EQ(inbounds("store i8 0, ptr %p\n"
                       "br i1 %c, label %more, label %end\n"
                       "more:\n"
                       "store i8 0, ptr %q\n"
                       "br label %end\n"
                       "end:\n"),
              Names());
    EXPECT_EQ(inbounds("store i8 0, ptr %p\n"
                       "call void @other()\n"
                       "store i8 0, ptr %q\n"),
              Names());
}

TEST(InboundsNeighbours, NotAtADistanceThatIsNoConstant) {
    EXPECT_EQ(inbounds("%n = getelementptr i8, ptr %p, i64 %i\n"
                       "store i8 0, ptr %p\n"
                       "store i8 0, ptr %n\n"),
              Names());
}

}  // namespace

}  // namespace calotype::internal
