// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Comparisons of unsigned lanes beside the smaller or the larger of both, and of upper bits.
#include <gtest/gtest.h>

#include <algorithm>

#include "ir/constants.h"
#include "unit/codegen/kernel.h"

namespace calotype::internal {
namespace {

/// The smaller (larger) of a and b, and 40 more if that is a, as where its place is looked for.
Expr extreme_and_place(const Expr &a, const Expr &b, bool larger) {
    const Expr extreme = larger ? max(a, b) : min(a, b);
    const Expr is_a = larger ? b < a : a < b;
    return extreme + select(is_a, make_const(a.type(), 40), make_const(a.type(), 0));
}

TEST(Comparisons, TakeTheExtremeThatIsThereAnyway) {
    for (const auto &[type, letter] :
         {std::pair(UInt(8, 32), "b"), std::pair(UInt(16, 16), "w"), std::pair(UInt(32, 8), "d")}) {
        for (bool larger : {false, true}) {
            const Expr e = extreme_and_place(load(type, "a"), load(type, "b"), larger);
            const std::string text = assembly("x86-64-linux-avx2", e);
            EXPECT_EQ(count(text, "vpminu"), larger ? 0u : 1u) << letter << text;
            EXPECT_EQ(count(text, "vpmaxu"), larger ? 1u : 0u) << letter << text;
        }
    }
}

TEST(Comparisons, AreExactEitherWay) {
    std::vector<uint8_t> a(256 * 256), b(256 * 256);
    for (size_t i = 0; i < a.size(); i++) {
        a[i] = uint8_t(i), b[i] = uint8_t(i / 256);
    }
    for (const char *target : {"x86-64-linux", "x86-64-linux-sse41", "x86-64-linux-avx2"}) {
        for (bool larger : {false, true}) {
            const std::vector<uint8_t> got = map2<uint8_t, uint8_t, uint8_t>(
                Target(target), 32, a, b,
                [&](const Expr &x, const Expr &y) { return extreme_and_place(x, y, larger); });
            for (size_t i = 0; i < a.size(); i++) {
                const int extreme = larger ? std::max(a[i], b[i]) : std::min(a[i], b[i]);
                const bool is_a = larger ? b[i] < a[i] : a[i] < b[i];
                ASSERT_EQ(got[i], uint8_t(extreme + is_a * 40)) << int(a[i]) << " " << int(b[i]);
            }
        }
    }
}

/// Whether the upper bits of x, those of `mask`, are `bits`: 40, or else 7.
Expr by_upper_bits(const Expr &x, int mask, int bits, bool equal) {
    const Type t = x.type();
    const Expr upper = Call::make(t, Intrinsic::bitwise_and, {x, make_const(t, mask)});
    const Expr wanted = make_const(t, bits);
    return select(equal ? upper == wanted : upper != wanted, make_const(t, 40), make_const(t, 7));
}

constexpr std::pair<int, int> ends_of_bytes[] = {
    {0xc0, 0x80}, {0xf0, 0x80}, {0xf0, 0x70}, {0xfe, 0x7e}};

TEST(Comparisons, OfUpperBitsTakeOneInstruction) {
    for (const auto &[mask, bits] : ends_of_bytes) {
        for (bool equal : {true, false}) {
            const std::string text = assembly(
                "x86-64-linux-avx2", by_upper_bits(load(UInt(8, 32), "a"), mask, bits, equal));
            EXPECT_EQ(count(text, "vpcmpgtb"), 1u) << mask << text;
            EXPECT_EQ(count(text, "vpcmpeqb"), 0u) << mask << text;
        }
    }
}

TEST(Comparisons, OfUpperBitsAreExact) {
    std::vector<uint8_t> all(256);
    for (size_t i = 0; i < all.size(); i++) {
        all[i] = uint8_t(i);
    }
    for (const char *target : {"x86-64-linux", "x86-64-linux-avx2"}) {
        for (const auto &[mask, bits] : ends_of_bytes) {
            for (bool equal : {true, false}) {
                const std::vector<uint8_t> got = map2<uint8_t, uint8_t, uint8_t>(
                    Target(target), 32, all, all, [&](const Expr &x, const Expr &) {
                        return by_upper_bits(x, mask, bits, equal);
                    });
                for (int x = 0; x < 256; x++) {
                    ASSERT_EQ(got[size_t(x)], ((x & mask) == bits) == equal ? 40 : 7) << x;
                }
            }
        }
    }
}

}  // namespace
}  // namespace calotype::internal
