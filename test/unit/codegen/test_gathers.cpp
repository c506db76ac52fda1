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

/// What the next iteration reads is taken from stores of elements as soon as they are made, but from a scatter only when
/// it is in the cache.
TEST(Gathers, UpdatesOfElementsApartAreMadeOneByOne) {
    const Expr apart = Ramp::make(0, 4, 8);
    const auto update = [&](const Expr &index) {
        const Expr old = Load::make(Float(32, 8), "out", index, const_true(8), Alignment());
        const Stmt store =
            Store::make("out", old + load(Float(32, 8), "a"), index, const_true(8), Alignment());
        return CompiledModule(one_function({pointer_argument("out"), pointer_argument("a"),
                                            pointer_argument("b")},
                                           store),
                              Target("x86-64-linux-avx512_skylake"))
            .assembly();
    };
    for (const std::string &text : {update(apart), update(load(Int(32, 8), "b"))}) {
        EXPECT_EQ(count(text, "gather"), 0u) << text;
        EXPECT_EQ(count(text, "scatter"), 0u) << text;
    }
}

}  // namespace
}  // namespace calotype::internal
