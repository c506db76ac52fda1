// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/float16.h"

#include <algorithm>
#include <cmath>

namespace calotype {

using namespace internal;

namespace internal {

// A finite double is scaled so that one unit in the last place of the result is 1.0; rounding to an
// integer is then rounding to the result's precision. A carry out of the mantissa runs into the
// exponent, which is what it should do.
uint16_t small_float_from_double(double x, int exponent_bits, int mantissa_bits) {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
    const uint16_t infinity = uint16_t(((1 << exponent_bits) - 1) << mantissa_bits);
    if (std::isnan(x)) {
        return sign | infinity | uint16_t(1 << (mantissa_bits - 1));
    }
    const double magnitude = std::fabs(x);
    if (std::isinf(x)) {
        return sign | infinity;
    }
    if (magnitude == 0) {
        return sign;
    }
    // Below the normal range the unit stays that of the smallest normal exponent.
    const int exponent = std::max(std::ilogb(magnitude), 1 - bias);
    if (exponent > bias) {
        return sign | infinity;
    }
    const double scaled = std::ldexp(magnitude, mantissa_bits - exponent);
    double rounded = std::floor(scaled);
    const double rest = scaled - rounded;
    if (rest > 0.5 || (rest == 0.5 && std::fmod(rounded, 2) != 0)) {
        rounded += 1;
    }
    // Normal numbers have the hidden bit in `rounded`; it adds one to the exponent field.
    const int field = exponent + bias - 1;
    const uint32_t bits = (uint32_t(field) << mantissa_bits) + uint32_t(rounded);
    return bits >= infinity ? sign | infinity : uint16_t(sign | bits);
}

double small_float_to_double(uint16_t bits, int exponent_bits, int mantissa_bits) {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const int max_field = (1 << exponent_bits) - 1;
    const int field = (bits >> mantissa_bits) & max_field;
    const int mantissa = bits & ((1 << mantissa_bits) - 1);
    double magnitude;
    if (field == max_field) {
        magnitude = mantissa ? std::nan("") : HUGE_VAL;
    } else if (field == 0) {
        magnitude = std::ldexp(double(mantissa), 1 - bias - mantissa_bits);
    } else {
        magnitude =
            std::ldexp(double(mantissa + (1 << mantissa_bits)), field - bias - mantissa_bits);
    }
    return bits & 0x8000 ? -magnitude : magnitude;
}

}  // namespace internal

constexpr bfloat16_t bfloat16_t::zero = bfloat16_t::make_zero();
constexpr bfloat16_t bfloat16_t::negative_zero = bfloat16_t::make_negative_zero();
constexpr bfloat16_t bfloat16_t::infinity = bfloat16_t::make_infinity();
constexpr bfloat16_t bfloat16_t::negative_infinity = bfloat16_t::make_negative_infinity();
constexpr bfloat16_t bfloat16_t::nan = bfloat16_t::make_nan();

}  // namespace calotype
