// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floats divided by constants: by the processor where it has no fused multiply-add, by two
// multiplications where it has.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "ir/constants.h"
#include "ir/language/math.h"
#include "kernel.h"

namespace calotype::internal {

namespace {

/// Of quotients so small that part of what they are summed from is subnormal, neighbours too.
template<typename T>
bool is_quotient(T value, T expected) {
    if (value == expected) {
        return std::signbit(value) == std::signbit(expected);
    }
    const T small = std::ldexp(std::numeric_limits<T>::min(), std::numeric_limits<T>::digits + 2);
    return std::abs(expected) < small ? std::nextafter(value, expected) == expected
                                      : std::isnan(value) && std::isnan(expected);
}

/// Multiples of the divisor, numbers of all sizes, and those that arithmetic has trouble with.
template<typename T>
std::vector<T> dividends(T divisor) {
    const T huge = std::numeric_limits<T>::max(), tiny = std::numeric_limits<T>::min();
    const T infinity = std::numeric_limits<T>::infinity();
    std::vector<T> x = {0,       T(-0.0), infinity, -infinity, std::numeric_limits<T>::quiet_NaN(),
                        huge,    -huge,   tiny,     -tiny,     std::numeric_limits<T>::denorm_min(),
                        tiny / 3};
    for (int n = -1000; n < 1000; n++) {
        x.push_back(T(n) * divisor);
    }
    std::mt19937_64 random(3);
    std::uniform_real_distribution<double> exponent(-80, 80);
    while (x.size() < 4096) {
        x.push_back(T((random() % 2 ? 1 : -1) * std::exp2(exponent(random))));
    }
    return x;
}

template<typename T>
void check(const Target &target, T divisor) {
    const std::vector<T> x = dividends(divisor);
    for (int lanes : {1, 8}) {
        const std::vector<T> out = map1<T, T>(target, lanes, x, [&](const Expr &e) {
            return e / make_const(e.type(), double(divisor));
        });
        for (size_t i = 0; i < x.size(); i++) {
            EXPECT_TRUE(is_quotient<T>(out[i], x[i] / divisor))
                << x[i] << " / " << divisor << " is " << x[i] / divisor << ", not " << out[i]
                << ", lanes " << lanes << " on " << target.to_string();
        }
    }
}

TEST(ConstantDivisors, QuotientsAreRoundedOnce) {
    for (const Target &target : runnable_targets()) {
        for (float divisor : {3.0f, 7.0f, 10.0f, 41.0f, -47.0f, 0.1f, 255.0f, 65535.0f, 4.0f,
                              1e-20f, 3e28f, 3e34f, 1e-38f}) {
            check<float>(target, divisor);
        }
        for (double divisor : {3.0, 49.0, -0.1, 1e9 + 7, 1e100, 1e-300}) {
            check<double>(target, divisor);
        }
    }
}

TEST(ConstantDivisors, SumsOfQuotientsTakeOneProduct) {
    const Expr a = load(Float(32, 8), "a"), b = load(Float(32, 8), "b");
    const std::string text = assembly("x86-64-linux-avx2-fma", a / 9.0f + b / 9.0f);
    EXPECT_EQ(count(text, "vmul"), 1u) << text;
    EXPECT_EQ(count(text, "vfm") + count(text, "vdiv"), 0u) << text;
    const Expr strict = strict_float(a / 9.0f + b / 9.0f);
    EXPECT_EQ(count(assembly("x86-64-linux-avx2-fma", strict), "vdiv"), 2u);
}

TEST(ConstantDivisors, MultiplesHaveWholeQuotientsWhereThatCounts) {
    std::vector<float> x;
    for (int n = -1000; n < 1000; n++) {
        x.push_back(float(n) * 49.0f);
    }
    for (const Target &target : runnable_targets()) {
        const auto down = map1<float, float>(
            target, 8, x, [](const Expr &e) { return floor(e / 49.0f) + e / 49.0f; });
        const auto whole = map1<int32_t, float>(
            target, 8, x, [](const Expr &e) { return cast(Int(32, 8), e / 49.0f); });
        for (int n = -1000; n < 1000; n++) {
            ASSERT_EQ(down[size_t(n + 1000)], float(2 * n)) << target.to_string();
            ASSERT_EQ(whole[size_t(n + 1000)], n) << target.to_string();
        }
    }
}

}  // namespace
}  // namespace calotype::internal
