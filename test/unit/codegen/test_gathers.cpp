// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Indices of gathers.
#include <gtest/gtest.h>

#include "ir/constants.h"
#include "unit/codegen/kernel.h"

namespace calotype::internal {
namespace {

/// A clamp tells LLVM that zeros would do to extend them.
TEST(Gathers, OfClampedIndicesTakeThemIn32Bits) {
    const Expr places = load(Int(32, 8), "b");
    const Expr clamped =
        max(min(places, make_const(places.type(), 1000)), make_zero(places.type()));
    const std::string text =
        assembly("x86-64-linux-avx512_skylake",
                 Load::make(Float(32, 8), "a", clamped, const_true(8), Alignment()));
    EXPECT_EQ(count(text, "vgatherdps"), 1u) << text;
    EXPECT_EQ(count(text, "vpmovzxdq"), 0u) << text;
}

}  // namespace
}  // namespace calotype::internal
