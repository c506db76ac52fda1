// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "ir/float16.h"

namespace calotype {
namespace {

/// The value of IEEE bits computed another way than by the library, for numbers that are not NaN.
double reference_value(uint16_t bits, int exponent_bits, int mantissa_bits) {
    const double sign = bits & 0x8000 ? -1 : 1;
    const int field = (bits & 0x7fff) >> mantissa_bits;
    const double fraction = double(bits & ((1 << mantissa_bits) - 1)) / (1 << mantissa_bits);
    const int bias = (1 << (exponent_bits - 1)) - 1;
    if (field == (1 << exponent_bits) - 1) {
        return sign * std::numeric_limits<double>::infinity();
    }
    return field ? sign * (1 + fraction) * std::pow(2.0, field - bias)
                 : sign * fraction * std::pow(2.0, 1 - bias);
}

template<typename T>
void check_all_values(int exponent_bits) {
    for (int bits = 0; bits < 65536; bits++) {
        const T x = T::make_from_bits(uint16_t(bits));
        if (x.is_nan()) {
            ASSERT_TRUE(std::isnan(double(x))) << bits;
            ASSERT_TRUE(T(double(x)).is_nan()) << bits;
            continue;
        }
        ASSERT_EQ(double(x), reference_value(uint16_t(bits), exponent_bits, T::mantissa_bits))
            << bits;
        ASSERT_EQ(T(double(x)).to_bits(), bits);
        ASSERT_EQ(T(float(x)).to_bits(), bits);
    }
}

/// Between two neighbours: below, at and above the middle. The middle goes to the even one.
template<typename T>
void check_rounding() {
    for (int bits = 0; bits + 1 < T::exponent_mask; bits++) {
        const T low = T::make_from_bits(uint16_t(bits)),
                high = T::make_from_bits(uint16_t(bits + 1));
        const double middle = (double(low) + double(high)) / 2;
        ASSERT_EQ(T(middle).to_bits(), bits % 2 == 0 ? bits : bits + 1);
        ASSERT_EQ(T(std::nextafter(middle, 0.0)).to_bits(), bits);
        ASSERT_EQ(T(std::nextafter(middle, 1e300)).to_bits(), bits + 1);
        ASSERT_EQ(T(-middle).to_bits(), 0x8000 | (bits % 2 == 0 ? bits : bits + 1));
    }
}

TEST(Float16, EveryValueConvertsExactly) {
    check_all_values<float16_t>(5);
    check_all_values<bfloat16_t>(8);
}

TEST(Float16, RoundsToNearestEven) {
    check_rounding<float16_t>();
    check_rounding<bfloat16_t>();
}

TEST(Float16, OverflowAndUnderflow) {
    EXPECT_EQ(float16_t(65519.0).to_bits(), 0x7bff);
    EXPECT_TRUE(float16_t(65520.0).is_infinity());
    EXPECT_TRUE(float16_t(-1e300).is_negative());
    EXPECT_TRUE(float16_t(std::ldexp(1.0, -25)).is_zero());
    EXPECT_EQ(float16_t(std::ldexp(1.5, -25)).to_bits(), 1);
    EXPECT_TRUE(bfloat16_t(3.4e38).is_infinity());
    EXPECT_TRUE(float16_t(std::numeric_limits<double>::denorm_min()).is_zero());
}

TEST(Float16, BFloatIsTheUpperHalfOfAFloat) {
    std::mt19937 random(7);
    for (int i = 0; i < 100000; i++) {
        const uint32_t bits = random();
        float f;
        memcpy(&f, &bits, sizeof(f));
        if (std::isnan(f)) {
            continue;
        }
        const uint32_t rounded = bits + 0x7fff + (bits >> 16 & 1);
        ASSERT_EQ(bfloat16_t(f).to_bits(), rounded >> 16) << bits;
    }
}

TEST(Float16, Arithmetic) {
    const float16_t a(1.5f), b(2.25f);
    EXPECT_EQ(double(a + b), 3.75);
    EXPECT_EQ(double(a - b), -0.75);
    EXPECT_EQ(double(a * b), 3.375);
    EXPECT_EQ((a / b).to_bits(), float16_t(1.5 / 2.25).to_bits());
    EXPECT_EQ(double(-a), -1.5);
    EXPECT_EQ(int(b), 2);
    float16_t c = a;
    c += b;
    EXPECT_EQ(double(c), 3.75);
    EXPECT_TRUE(a < b && b > a && a <= b && b >= a && a != b && a == a);
    EXPECT_FALSE(float16_t::make_nan() == float16_t::make_nan());
    EXPECT_TRUE(float16_t::make_zero() == float16_t::make_negative_zero());
    EXPECT_TRUE(bfloat16_t::infinity.is_infinity());
    EXPECT_TRUE(bfloat16_t::nan.is_nan());
    EXPECT_EQ(bfloat16_t::zero.to_bits(), 0);
}

}  // namespace
}  // namespace calotype
