// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Indices of gathers.
#include <gtest/gtest.h>

#include <numeric>

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

/// Two indices are taken out of a vector at a time. LLVM kept both in one register where it knew them to be small.
TEST(Gathers, OfFewElementsTakeOneAtATime) {
    std::vector<uint16_t> table(64), places(64);
    std::iota(table.begin(), table.end(), uint16_t(100));
    for (size_t i = 0; i < places.size(); i++) {
        places[i] = uint16_t(i * 7919 % 23);
    }
    for (const Target &target : runnable_targets()) {
        for (const int lanes : {2, 4, 8, 16}) {
            for (const int most : {1, 9, 127, 128}) {
                const std::vector<uint16_t> found = map2<uint16_t, uint16_t, uint16_t>(
                    target, lanes, places, table, [&](const Expr &place, const Expr &) {
                        const Expr few = min(place, make_const(place.type(), most));
                        return Load::make(UInt(16, lanes), "in1", cast(Int(32, lanes), few),
                                          const_true(lanes), Alignment());
                    });
                for (size_t i = 0; i < places.size(); i++) {
                    ASSERT_EQ(found[i], table[std::min<size_t>(places[i], size_t(most))])
                        << target.to_string() << ", " << lanes << " lanes, at most " << most;
                }
            }
        }
    }
}

/// Of bytes and shorts there is no gather or scatter under a mask. Lanes that it leaves out are not touched, wherever they
/// point to; that takes no branch for each.
TEST(Gathers, UnderMasksTouchNoLaneThatIsLeftOut) {
    std::vector<uint16_t> table(64), places(64);
    std::iota(table.begin(), table.end(), uint16_t(100));
    for (size_t i = 0; i < places.size(); i++) {
        places[i] = i % 3 == 0 ? uint16_t(60000) : uint16_t(i * 7919 % 64);
    }
    for (const Target &target : runnable_targets()) {
        for (const int lanes : {2, 4, 8, 16, 32}) {
            const std::vector<uint16_t> found = map2<uint16_t, uint16_t, uint16_t>(
                target, lanes, places, table, [&](const Expr &place, const Expr &) {
                    const Expr is_there = place < make_const(place.type(), 64);
                    const Expr far =
                        cast(Int(32, lanes), place) * make_const(Int(32, lanes), 30000);
                    const Expr index = select(is_there, cast(Int(32, lanes), place), far);
                    const Expr read =
                        Load::make(UInt(16, lanes), "in1", index, is_there, Alignment());
                    return select(is_there, read, make_const(place.type(), 7));
                });
            for (size_t i = 0; i < places.size(); i++) {
                ASSERT_EQ(found[i], places[i] < 64 ? table[places[i]] : 7)
                    << target.to_string() << ", " << lanes << " lanes";
            }
        }
    }
}

TEST(Gathers, UnderMasksHaveNoBranchForEachLane) {
    const Expr places = load(Int(32, 16), "b");
    const std::string text = assembly(
        "x86-64-linux-avx2", Load::make(UInt(16, 16), "a", places,
                                        places < make_const(places.type(), 1000), Alignment()));
    EXPECT_LE(count(text, "\tj"), 4u) << text;
}

}  // namespace
}  // namespace calotype::internal
