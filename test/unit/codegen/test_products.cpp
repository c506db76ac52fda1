// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of 16-bit numbers in 32 bits, differences and numbers of all lanes, and vectors that registers have no room for, on x86.
#include <gtest/gtest.h>

#include <vector>

#include "ir/constants.h"
#include "unit/codegen/kernel.h"

namespace calotype::internal {
namespace {

Expr product(const Type &a, const Type &b) {
    const Type wide = Int(32, a.lanes());
    return Mul::make(cast(wide, load(a, "a")), cast(wide, load(b, "b")));
}

TEST(Products, OfWordsAreOneOperation) {
    for (const char *target : {"x86-64-linux", "x86-64-linux-sse41", "x86-64-linux-avx2",
                               "x86-64-linux-avx512_skylake"}) {
        for (int lanes : {4, 12, 64}) {
            const std::string text = assembly(target, product(Int(16, lanes), Int(16, lanes)));
            EXPECT_GE(count(text, "pmaddwd"), 1u) << text;
            EXPECT_EQ(count(text, "pmulld") + count(text, "pmuludq"), 0u) << text;
        }
    }
    // One of them is a signed byte, of which no half is known to be 0.
    const std::string text = assembly("x86-64-linux-avx2", product(Int(8, 16), Int(16, 16)));
    EXPECT_EQ(count(text, "pmulld"), 0u) << text;
}

/// Words that are multiplied by themselves and by others are made wide once.
TEST(Products, OfWordsMakeEachWideOnce) {
    const Expr a = cast(Int(32, 8), load(Int(16, 8), "a")),
               b = cast(Int(32, 8), load(Int(16, 8), "b"));
    const std::string text = assembly("x86-64-linux-avx2", (a * a) ^ (a * b) ^ (b * b));
    EXPECT_EQ(count(text, "vpmovzxwd"), 2u) << text;
    EXPECT_EQ(count(text, "vpmovsxwd"), 0u) << text;
}

/// One instruction less would be two that wait for each other in each iteration.
TEST(Products, AreAddedUpBeforeWhatComesRoundALoop) {
    const Expr r = Variable::make(Int(32), "r"), at = Ramp::make(0, 1, 8);
    const auto square = [&](int from) {
        const Expr word = Load::make(Int(16, 8), "a", Ramp::make(r * 16 + from, 1, 8),
                                     const_true(8), Alignment());
        return cast(Int(32, 8), word) * cast(Int(32, 8), word);
    };
    const Expr sum = Load::make(Int(32, 8), "out", at, const_true(8), Alignment());
    const Stmt store =
        Store::make("out", sum + square(0) + square(8), at, const_true(8), Alignment());
    const Stmt loop =
        For::make("r", 0, 1000, ForType::Serial, Partition::Auto, DeviceAPI::None, store);
    const std::string text =
        CompiledModule(one_function({pointer_argument("out"), pointer_argument("a")}, loop),
                       Target("x86-64-linux-avx512_zen4"))
            .assembly();
    EXPECT_EQ(count(text, "vpmaddwd"), 1u) << text;
    EXPECT_EQ(count(text, "vpdpwssd"), 1u) << text;
    EXPECT_EQ(count(text, "vpaddd"), 1u) << text;
}

TEST(Products, OrSumsOfBytesNeedNoMoreThanSse2) {
    const Expr bytes = cast(UInt(16, 32), load(UInt(8, 32), "a"));
    const std::string sums =
        assembly("x86-64-linux", VectorReduce::make(VectorReduce::Add, bytes, 4));
    EXPECT_EQ(count(sums, "psadbw"), 2u) << sums;
    const Expr products = product(Int(16, 16), Int(16, 16));
    const std::string pairs =
        assembly("x86-64-linux", VectorReduce::make(VectorReduce::Add, products, 8));
    EXPECT_EQ(count(pairs, "pmaddwd"), 2u) << pairs;
}

/// The sum over all lanes of the products of bytes, each without its zero point.
Expr without_zero_points(const Expr &a, const Expr &b, int lanes) {
    const Type wide = Int(32, a.type().lanes());
    return VectorReduce::make(
        VectorReduce::Add,
        (cast(wide, a) - make_const(wide, 128)) * (cast(wide, b) - make_const(wide, 7)), lanes);
}

TEST(Products, OfBytesWithoutZeroPointsAreThoseOfWords) {
    const std::string text = assembly(
        "x86-64-linux", without_zero_points(load(UInt(8, 32), "a"), load(UInt(8, 32), "b"), 8));
    EXPECT_EQ(count(text, "pmaddwd"), 4u) << text;
    EXPECT_EQ(count(text, "packssdw") + count(text, "pmulhw"), 0u) << text;
}

TEST(Products, OfBytesWithoutZeroPointsAreExact) {
    constexpr int lanes = 32;
    std::vector<uint8_t> a(lanes * 8), b(a.size());
    for (size_t i = 0; i < a.size(); i++) {
        a[i] = uint8_t(i % 3 == 0 ? 0 : i * 37), b[i] = uint8_t(i % 5 == 0 ? 255 : i * 11);
    }
    for (const char *target : {"x86-64-linux", "x86-64-linux-avx2"}) {
        const std::vector<int32_t> got = map2<int32_t, uint8_t, uint8_t>(
            Target(target), lanes, a, b, [](const Expr &x, const Expr &y) {
                return Broadcast::make(without_zero_points(x, y, 1), lanes);
            });
        for (size_t i = 0; i < a.size(); i++) {
            int32_t sum = 0;
            for (size_t k = i / lanes * lanes; k < i / lanes * lanes + lanes; k++) {
                sum += (a[k] - 128) * (b[k] - 7);
            }
            ASSERT_EQ(got[i], sum) << i;
        }
    }
}

// A number of memory that all lanes are is loaded into all of them, and its upper half may be anything.
TEST(Products, OfWordsAndOneWordTakeItAsItIsLoaded) {
    for (const char *target : {"x86-64-linux-avx2", "x86-64-linux-avx512_skylake"}) {
        const Expr one = Broadcast::make(cast(Int(32), load(Int(16), "b")), 8),
                   words = cast(Int(32, 8), load(Int(16, 8), "a"));
        for (const Expr &e : {Mul::make(words, one), Mul::make(one, words)}) {
            const std::string text = assembly(target, e);
            EXPECT_EQ(count(text, "vpbroadcastw"), 1u) << text;
            EXPECT_EQ(count(text, "vpmaddwd"), 1u) << text;
            EXPECT_EQ(count(text, "vmovd\t") + count(text, "vpmulld"), 0u) << text;
            EXPECT_EQ(count(text, "vpmov"), 1u) << text;
        }
    }
}

TEST(Products, OfWordsAndOneWordAreExact) {
    std::vector<int16_t> a(64);
    for (size_t i = 0; i < a.size(); i++) {
        a[i] = int16_t(i % 2 ? INT16_MIN + int(i) : INT16_MAX - int(i) * 500);
    }
    for (const Target &target : runnable_targets()) {
        for (const int lanes : {4, 8, 16, 32}) {
            const auto got = map1<int32_t, int16_t>(target, lanes, a, [](const Expr &x) {
                const int n = x.type().lanes();
                const Expr one = Shuffle::make_extract_element(x, 1);
                return Mul::make(Broadcast::make(cast(Int(32), one), n), cast(Int(32, n), x));
            });
            for (size_t i = 0; i < a.size(); i++) {
                ASSERT_EQ(int32_t(a[i]) * a[i - i % size_t(lanes) + 1], got[i])
                    << target.to_string() << ", " << lanes;
            }
        }
    }
}

// Bytes are made as wide as the sum that their product is for, where a register holds that many.
TEST(Products, OfBytesAreMadeWideAtOnce) {
    const auto widened = [](int lanes, const Type &t, const Type &wide) {
        const Expr a = cast(t.with_lanes(lanes), load(UInt(8, lanes), "a"));
        const Expr b =
            cast(t.with_lanes(lanes), load(t.is_int() ? Int(8, lanes) : UInt(8, lanes), "b"));
        return cast(wide.with_lanes(lanes), Mul::make(a, b));
    };
    for (const Type &t : {UInt(16), Int(16)}) {
        for (const Type &wide : {UInt(32), Int(32)}) {
            const std::string text = assembly("x86-64-linux-avx2", widened(8, t, wide));
            EXPECT_EQ(count(text, "pmullw"), 0u) << text;
            EXPECT_EQ(count(text, "pmaddwd"), 1u) << text;
            EXPECT_EQ(count(text, "vpmov"), 2u) << text;
        }
    }
    const std::string wide = assembly("x86-64-linux-avx2", widened(16, UInt(16), UInt(32)));
    EXPECT_EQ(count(wide, "pmullw"), 1u) << wide;
    // Products of two unsigned bytes may be more than an int16 holds.
    const Expr a = cast(Int(16, 8), load(UInt(8, 8), "a")),
               b = cast(Int(16, 8), load(UInt(8, 8), "b"));
    const std::string wraps = assembly("x86-64-linux-avx2", cast(Int(32, 8), Mul::make(a, b)));
    EXPECT_EQ(count(wraps, "pmullw"), 1u) << wraps;
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

/// Of vectors shorter than a register nothing is filled with zeros, and a byte for all lanes is loaded into them.
TEST(X86, DifferencesOfAFewBytesAreOfWhatIsLoaded) {
    const Expr one = Broadcast::make(load(UInt(8), "b"), 8);
    const std::string text = assembly("x86-64-linux-avx2", absd(load(UInt(8, 8), "a"), one));
    EXPECT_EQ(count(text, "vpbroadcastb"), 1u) << text;
    EXPECT_EQ(count(text, "vpsubusb"), 2u) << text;
    EXPECT_EQ(count(text, "vmovq"), 2u) << text;
}

/// Of whole registers a difference is that of the extremes.
TEST(X86, DifferencesOfWholeRegistersAreOfTheExtremes) {
    for (const Type &t : {UInt(8, 16), UInt(8, 32), UInt(16, 8), UInt(16, 32)}) {
        const std::string text = assembly("x86-64-linux-avx2", absd(load(t, "a"), load(t, "b")));
        EXPECT_EQ(count(text, "vpsubus"), 0u) << text;
        EXPECT_GT(count(text, "vpminu"), 0u) << text;
    }
}

/// What is the same in all lanes, and made wider, is widened there: no move out of a general register.
TEST(X86, OneNarrowNumberIsMadeWideInAllLanes) {
    for (const Type &narrow : {UInt(8), Int(8), UInt(16), Int(16)}) {
        const Expr e = Broadcast::make(cast(Int(32), load(narrow, "a")), 8);
        const std::string text = assembly("x86-64-linux-avx2", e);
        EXPECT_EQ(count(text, "vpbroadcast"), 1u) << text;
        EXPECT_EQ(count(text, "vpmov"), 1u) << text;
        EXPECT_EQ(count(text, "vmovd\t"), 0u) << text;
    }
}

}  // namespace
}  // namespace calotype::internal
