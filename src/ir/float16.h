// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// float16_t and bfloat16_t: 16-bit floating point in C++. All conversions and operations round to
// the nearest value, ties to even; arithmetic is done in double, whose extra digits make the double
// rounding exact.
#pragma once

#include <cstdint>

#include "runtime/abi/type_of.h"

namespace calotype {

namespace internal {

/// The nearest value with so many exponent and mantissa bits (an IEEE interchange format), as its
/// bits.
uint16_t small_float_from_double(double x, int exponent_bits, int mantissa_bits);
/// The value of such bits; exact.
double small_float_to_double(uint16_t bits, int exponent_bits, int mantissa_bits);

/// What the two types share; Self derives from this.
template<typename Self, int ExponentBits, int MantissaBits>
class SmallFloat {
public:
    static constexpr int mantissa_bits = MantissaBits;
    static constexpr uint16_t sign_mask = 0x8000;
    static constexpr uint16_t exponent_mask = uint16_t(((1 << ExponentBits) - 1) << MantissaBits);
    static constexpr uint16_t mantissa_mask = uint16_t((1 << MantissaBits) - 1);

    /// Zero.
    constexpr SmallFloat() = default;
    explicit SmallFloat(double x) : bits_(small_float_from_double(x, ExponentBits, MantissaBits)) {
    }

    explicit operator float() const {
        return float(double(*this));
    }
    explicit operator double() const {
        return small_float_to_double(bits_, ExponentBits, MantissaBits);
    }
    /// Truncates.
    explicit operator int() const {
        return int(double(*this));
    }

    static constexpr Self make_from_bits(uint16_t bits) {
        Self result;
        result.bits_ = bits;
        return result;
    }
    static constexpr Self make_zero() {
        return make_from_bits(0);
    }
    static constexpr Self make_negative_zero() {
        return make_from_bits(sign_mask);
    }
    static constexpr Self make_infinity() {
        return make_from_bits(exponent_mask);
    }
    static constexpr Self make_negative_infinity() {
        return make_from_bits(sign_mask | exponent_mask);
    }
    /// A quiet NaN.
    static constexpr Self make_nan() {
        return make_from_bits(uint16_t(exponent_mask | (1 << (MantissaBits - 1))));
    }

    constexpr uint16_t to_bits() const {
        return bits_;
    }
    constexpr bool is_nan() const {
        return (bits_ & exponent_mask) == exponent_mask && (bits_ & mantissa_mask) != 0;
    }
    constexpr bool is_infinity() const {
        return (bits_ & ~sign_mask) == exponent_mask;
    }
    /// The sign bit, which zeros and NaNs have too.
    constexpr bool is_negative() const {
        return (bits_ & sign_mask) != 0;
    }
    constexpr bool is_zero() const {
        return (bits_ & ~sign_mask) == 0;
    }

    constexpr Self operator-() const {
        return make_from_bits(bits_ ^ sign_mask);
    }
    Self operator+(Self o) const {
        return Self(double(*this) + double(o));
    }
    Self operator-(Self o) const {
        return Self(double(*this) - double(o));
    }
    Self operator*(Self o) const {
        return Self(double(*this) * double(o));
    }
    Self operator/(Self o) const {
        return Self(double(*this) / double(o));
    }
    Self operator+=(Self o) {
        return assign(*this + o);
    }
    Self operator-=(Self o) {
        return assign(*this - o);
    }
    Self operator*=(Self o) {
        return assign(*this * o);
    }
    Self operator/=(Self o) {
        return assign(*this / o);
    }
    // As IEEE comparisons: a NaN compares unequal to everything, and zeros are equal.
    bool operator==(Self o) const {
        return double(*this) == double(o);
    }
    bool operator!=(Self o) const {
        return double(*this) != double(o);
    }
    bool operator<(Self o) const {
        return double(*this) < double(o);
    }
    bool operator>(Self o) const {
        return double(*this) > double(o);
    }
    bool operator<=(Self o) const {
        return double(*this) <= double(o);
    }
    bool operator>=(Self o) const {
        return double(*this) >= double(o);
    }

private:
    Self assign(Self value) {
        bits_ = value.bits_;
        return value;
    }
    uint16_t bits_ = 0;
};

}  // namespace internal

/// IEEE binary16: 5 bits of exponent, 10 of mantissa.
class float16_t : public internal::SmallFloat<float16_t, 5, 10> {
public:
    constexpr float16_t() = default;
    explicit float16_t(float x) : SmallFloat(double(x)) {
    }
    explicit float16_t(double x) : SmallFloat(x) {
    }
    explicit float16_t(int x) : SmallFloat(double(x)) {
    }
#ifdef CALOTYPE_CPP_COMPILER_HAS_FLOAT16
    explicit float16_t(_Float16 x) : SmallFloat(double(x)) {
    }
    explicit operator _Float16() const {
        return _Float16(double(*this));
    }
#endif
};

/// The upper half of a float: 8 bits of exponent, 7 of mantissa.
class bfloat16_t : public internal::SmallFloat<bfloat16_t, 8, 7> {
public:
    constexpr bfloat16_t() = default;
    explicit bfloat16_t(float x) : SmallFloat(double(x)) {
    }
    explicit bfloat16_t(double x) : SmallFloat(x) {
    }
    explicit bfloat16_t(int x) : SmallFloat(double(x)) {
    }
    static const bfloat16_t zero, negative_zero, infinity, negative_infinity, nan;
};

static_assert(sizeof(float16_t) == 2 && sizeof(bfloat16_t) == 2, "both are their bits alone");

}  // namespace calotype

template<>
struct calotype_type_of_class<calotype::float16_t> {
    static constexpr calotype_type_t value{calotype_type_float, 16};
};
template<>
struct calotype_type_of_class<calotype::bfloat16_t> {
    static constexpr calotype_type_t value{calotype_type_bfloat, 16};
};
