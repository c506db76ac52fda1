// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of 16-bit numbers in 32 bits, and vectors that registers have no room for, on x86.
#include <gtest/gtest.h>

#include "ir/constants.h"
#include "unit/codegen/kernel.h"

namespace calotype::internal {
namespace {

Expr product(const Type &a, const Type &b) {
    const Type wide = Int(32, a.lanes());
    return Mul::make(cast(wide, load(a, "a")), cast(wide, load(b, "b")));
}

TEST(Products, OfWordsAreOneOperation) {
    for (const char *target :
         {"x86-64-linux-sse41", "x86-64-linux-avx2", "x86-64-linux-avx512_skylake"}) {
        for (int lanes : {4, 12, 64}) {
            const std::string text = assembly(target, product(Int(16, lanes), Int(16, lanes)));
            EXPECT_GE(count(text, "pmaddwd"), 1u) << text;
            EXPECT_EQ(count(text, "pmulld"), 0u) << text;
        }
    }
    // One of them is a signed byte, of which no half is known to be 0.
    const std::string text = assembly("x86-64-linux-avx2", product(Int(8, 16), Int(16, 16)));
    EXPECT_EQ(count(text, "pmulld"), 0u) << text;
}

TEST(Spills, LieInOneLineEach) {
    const int lanes = 40 * 16;  // in 32 registers
    const Expr v = Variable::make(Float(32, lanes), "v");
    const Expr sum = VectorReduce::make(VectorReduce::Add, v, 1);
    const Expr e = Let::make("v", load(Float(32, lanes), "a"), v * Broadcast::make(sum, lanes));
    const std::string text = assembly("x86-64-linux-avx512_skylake", e);
    EXPECT_EQ(count(text, "andq\t$-64, %rsp"), 1u) << text;
    const Expr few = load(Float(32, 64), "a") + load(Float(32, 64), "b");
    EXPECT_EQ(count(assembly("x86-64-linux-avx512_skylake", few), "andq\t$-64, %rsp"), 0u);
}

}  // namespace
}  // namespace calotype::internal
