// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vectors that go from one block to another.
#include <gtest/gtest.h>

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <string>

#include "codegen/llvm/transformed.h"
#include "codegen/x86/carried_vectors.h"

namespace calotype::internal {

namespace {

/// The lanes that blocks of f have from others: "lanes x bits" of phis and of what is used outside of its block, in order.
std::string carried(const std::string &body, const std::string &target) {
    llvm::LLVMContext context;
    const auto module = transformed(body, context, [&](llvm::Module &m) {
        carry_whole_registers(m, Target("x86-64-linux-" + target));
    });
    std::string found;
    for (const llvm::Instruction &i : llvm::instructions(*module->getFunction("f"))) {
        const auto *type = llvm::dyn_cast<llvm::FixedVectorType>(i.getType());
        if (type && (llvm::isa<llvm::PHINode>(i) || i.isUsedOutsideOfBlock(i.getParent()))) {
            found += std::to_string(type->getNumElements()) + "x" +
                     std::to_string(type->getScalarSizeInBits()) + " ";
        }
    }
    return found;
}

/// A value of one block that two others use, one of them in a loop.
std::string across(const std::string &type) {
    return "define " + type + " @f(" + type + " %a, " + type + " %b, i1 %c) {\n" + "%s = xor " +
           type + " %a, %b\nbr i1 %c, label %loop, label %end\n" + "loop:\n%p = phi " + type +
           " [%b, %0], [%q, %loop]\n%q = xor " + type + " %p, %s\n" +
           "br i1 %c, label %loop, label %end\n" + "end:\n%r = phi " + type +
           " [%s, %0], [%q, %loop]\nret " + type + " %r\n}\n";
}

TEST(CarriedVectors, ArePowersOfTwo) {
    for (const char *target : {"sse41", "avx2", "avx512_skylake"}) {
        EXPECT_EQ(carried(across("<48 x i16>"), target), "64x16 64x16 64x16 ") << target;
        EXPECT_EQ(carried(across("<3 x i32>"), target), "4x32 4x32 4x32 ") << target;
        EXPECT_EQ(carried(across("<16 x i16>"), target), "16x16 16x16 16x16 ") << target;
    }
}

TEST(CarriedVectors, OfMasksAreBytesWithoutRegistersForThem) {
    EXPECT_EQ(carried(across("<32 x i1>"), "sse41"), "32x8 32x8 32x8 ");
    EXPECT_EQ(carried(across("<64 x i1>"), "avx2"), "64x8 64x8 64x8 ");
    EXPECT_EQ(carried(across("<32 x i1>"), "avx2"), "32x1 32x1 32x1 ");
    EXPECT_EQ(carried(across("<64 x i1>"), "avx512_skylake"), "64x1 64x1 64x1 ");
    EXPECT_EQ(carried(across("<48 x i1>"), "avx512_skylake"), "64x1 64x1 64x1 ");
}

}  // namespace

}  // namespace calotype::internal
