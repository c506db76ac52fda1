// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions of vectors to narrower types.
#include <gtest/gtest.h>

#include "unit/codegen/kernel.h"

namespace calotype::internal {
namespace {

size_t masks(const Expr &e) {
    const std::string text = assembly("x86-64-linux-avx2-fma", e);
    return count(text, "vpand") + count(text, "vpblendw") + count(text, "vpshufb");
}

TEST(X86, FloatsThatFitArePackedWithoutMasks) {
    const auto known = [](Type to, float most) {
        return cast(to, clamp(load(Float(32, to.lanes()), "a"), 0.0f, most) + 0.5f);
    };
    EXPECT_EQ(masks(known(UInt(8, 32), 255)), 0u);
    EXPECT_EQ(masks(known(UInt(16, 16), 65535)), 0u);
    EXPECT_GT(masks(known(UInt(8, 32), 256)), 0u);
}

TEST(X86, IntegersThatFitArePackedWithoutMasks) {
    const auto sum = [](Type narrow, Type wide, int a, int b, int shift) {
        const auto value = [&](const char *name) {
            return cast(wide, load(narrow, name));
        };
        return cast(narrow, (value("a") * a + value("b") * b) >> cast(wide, shift));
    };
    EXPECT_EQ(masks(sum(UInt(8, 32), UInt(16, 32), 3, 13, 4)), 0u);
    EXPECT_EQ(masks(sum(Int(8, 32), Int(16, 32), 3, 13, 4)), 0u);
    EXPECT_EQ(masks(sum(UInt(16, 16), UInt(32, 16), 3, 13, 4)), 0u);
    EXPECT_EQ(masks(sum(Int(16, 16), Int(32, 16), 3, 13, 4)), 0u);
    EXPECT_GT(masks(sum(UInt(8, 32), UInt(16, 32), 3, 14, 4)), 0u);
}

}  // namespace
}  // namespace calotype::internal
