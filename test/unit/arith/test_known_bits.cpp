// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "arith/known_bits.h"
#include "arith/simplify.h"
#include "ir/operators.h"
#include "ir/printer.h"

namespace calotype {
namespace {

using namespace internal;

int64_t result_of(Intrinsic op, int64_t a, int64_t b) {
    return op == Intrinsic::bitwise_and ? a & b : op == Intrinsic::bitwise_or ? a | b : a ^ b;
}

bool is_in(const IntegerInfo &info, int64_t value) {
    const Alignment &a = info.alignment;
    return info.range.contains(value) &&
           (a.modulus == 0 ? value == a.remainder
                           : euclidean_mod(value - a.remainder, a.modulus) == 0);
}

// All values of intervals with a stride, of either sign.
TEST(KnownBits, HoldForAllValues) {
    for (const Type t : {Int(8), UInt(8)}) {
        const int64_t lowest = t.is_int() ? -128 : 0;
        for (int seed = 0; seed < 400; seed++) {
            const auto operand = [&](int k) {
                const int64_t first = lowest + (seed * 37 + k * 91) % 200;
                const int64_t stride = int64_t(1) << (seed / 3 + k) % 4;
                const int64_t steps = (seed * 7 + k) % 9;
                const int64_t last = std::min(first + stride * steps, lowest + 255);
                return std::pair{IntegerInfo{ConstRange::of(first, last),
                                             Alignment{stride, euclidean_mod(first, stride)}},
                                 stride};
            };
            const auto [a, step_a] = operand(0);
            const auto [b, step_b] = operand(1);
            for (Intrinsic op :
                 {Intrinsic::bitwise_and, Intrinsic::bitwise_or, Intrinsic::bitwise_xor}) {
                const IntegerInfo all =
                    info_of_bits(combine(op, known_bits(a, t), known_bits(b, t)), t);
                for (int64_t x = *a.range.min; x <= *a.range.max; x += step_a) {
                    for (int64_t y = *b.range.min; y <= *b.range.max; y += step_b) {
                        ASSERT_TRUE(is_in(all, result_of(op, x, y)))
                            << x << ' ' << intrinsic_info(op).name << ' ' << y;
                    }
                }
            }
        }
    }
}

TEST(KnownBits, LowBitsAreRemaindersAndHighBitsAreSigns) {
    const Expr x = Variable::make(Int(32), "x"), wide = Variable::make(Int(64), "wide");
    const Expr y = Variable::make(UInt(16), "y"), z = cast(UInt(32), y);
    for (const Expr &e : {(wide | 1) % 2 == 1, (x & -16 & 15) == 0, (x & -16) % 16 == 0,
                          ((x & cast<int>(y << 2)) | 5) % 8 == 5, (min(x, -1) ^ (x & 255)) < 0,
                          (z & (z << 16)) == 0}) {
        EXPECT_TRUE(can_prove(e)) << e;
    }
    for (const Expr &e : {(x & -16 & 31) == 0, (wide | 1) % 4 == 1, (z & (z << 15)) == 0}) {
        EXPECT_FALSE(can_prove(e)) << e;
        EXPECT_FALSE(can_prove(!e)) << e;
    }
}

}  // namespace
}  // namespace calotype
