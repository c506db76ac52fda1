// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MathEmitter: exp, log, sin, ... of float32 and float64 scalars and vectors as straight-line code,
// so that vectors stay vectors and give the same results as scalars.
#pragma once

#include "codegen/llvm/emitter.h"

namespace calotype::internal {

/// Errors: float32 at most 3 ulp; float64 at most 4 ulp (pow: 2, and up to 20 where the result is near
/// the ends of the range). Infinities, NaNs, signed zeros and subnormal numbers are treated as in C,
/// but that exp gives zero in place of a subnormal number.
class MathEmitter {
public:
    using Value = llvm::Value;

    /// For values of the float type t, 32 or 64 bits.
    MathEmitter(FunctionEmitter &f, Type t);

    Value *exp(Value *x);
    Value *log(Value *x);
    Value *pow(Value *x, Value *y);
    Value *sin(Value *x);
    Value *cos(Value *x);
    Value *tan(Value *x);
    Value *atan(Value *x);
    Value *atan2(Value *y, Value *x);
    Value *asin(Value *x);
    Value *acos(Value *x);
    Value *sinh(Value *x);
    Value *cosh(Value *x);
    Value *tanh(Value *x);
    Value *asinh(Value *x);
    Value *acosh(Value *x);
    Value *atanh(Value *x);
    Value *erf(Value *x);

    /// The C function of that name on each lane.
    Value *by_libm(const char *name, const std::vector<Value *> &args);

private:
    /// A value as the sum of two, the second small.
    struct Pair {
        Value *high, *low;
    };

    bool is_double() const {
        return type_.bits() == 64;
    }
    Value *constant(double x) const;
    Value *of_lanes(double first, double second) const;
    Value *bits_constant(uint64_t x) const;
    Value *multiply_add(Value *a, Value *b, Value *c);
    Value *polynomial(Value *x, const double *coefficients, int count);
    template<int N>
    Value *polynomial(Value *x, const double (&c)[N]) {
        return polynomial(x, c, N);
    }
    template<int N, int M>
    Value *kernel(Value *x, const double (&c32)[N], const double (&c64)[M]) {
        return is_double() ? polynomial(x, c64, M) : polynomial(x, c32, N);
    }
    template<int N, int M>
    Value *odd_kernel(Value *x, const double (&c32)[N], const double (&c64)[M]) {
        Value *z = b_.CreateFMul(x, x);
        return multiply_add(b_.CreateFMul(x, z), kernel(z, c32, c64), x);
    }
    Value *bits_of(Value *x);
    Value *from_bits(Value *x);
    Value *absolute(Value *x);
    Value *with_sign_of(Value *magnitude, Value *sign);
    Value *is_negative(Value *x);
    bool rare_keeps_registers() const;
    Type in_whole_registers() const;
    /// What `usual` is, and in the lanes that are `special` what `any` makes of the arguments, which takes a branch where
    /// there is one. `name` and the type say what that is.
    using OfArguments = std::function<Value *(const std::vector<Value *> &)>;
    Value *unless_any(Value *special, Value *usual, const std::string &name,
                      const std::vector<Value *> &args, const OfArguments &any);
    /// The nearest integer to x * factor, up to 2^22 (2^51) away from zero, as a float; the low bits of it plus
    /// `bias` in *bits if not null.
    Value *nearest(Value *x, double factor, Value **bits, int bias = 0);
    unsigned mantissa_bits() const {
        return is_double() ? 52 : 23;
    }
    int exponent_bias() const {
        return is_double() ? 1023 : 127;
    }
    Value *exp_scaled(Value *x, int exponent);
    Value *exp2(Value *x, Value *low);
    /// 2^n: n as a float, and the bits of that integer plus a bias.
    struct Power {
        Value *n, *bits;
    };
    Value *exp_less_one(Value *x, int bias, Power *power);
    Value *exp2_less_one(Value *x, Value *low, int bias, Power *power);
    bool scales_in_double() const;
    /// What is added to the bits of a Power that scale_one_plus() is given.
    int bias_of_scale() const;
    Value *scale_in_double(Value *x, const Power &power, Value *is_zero);
    Value *scale_one_plus(Value *x, const Power &power, Value *is_zero);
    Value *clamp(Value *x, double low, double high);
    /// x = 2^e * m with m from sqrt(1/2) to sqrt(2), for x > 0; subnormal x too. Of 0, infinity and
    /// NaN, e is -infinity, infinity and NaN.
    void split_exponent(Value *x, Value **m, Value **e);
    /// The same of x that is positive and normal.
    void split_normal_exponent(Value *x, Value **m, Value **e);
    bool split_by_instructions(Value *x, Value **m, Value **e);
    /// The bits of the least mantissa that split_exponent gives.
    Value *least_mantissa() const;
    Value *smallest_normal() const;
    Value *is_not_normal(Value *x);
    Value *log_of_parts(Value *m, Value *e);
    Value *log_of_any(Value *x);
    Value *unless_negative(Value *x, Value *result);
    Value *log_by_quotient(Value *f, Value *e);
    Value *log_by_polynomial(Value *f, Value *e);
    Pair log2_pair(Value *m, Value *e);
    Value *log_of_one_plus(Value *z);
    Value *asinh_double(Value *x);
    Value *acosh_double(Value *x);
    Value *atanh_double(Value *x);
    Pair two_product(Value *a, Value *b);
    Value *exact_difference(Value *c, Value *a, Value *b);
    Pair times(Value *y, const Pair &l);
    Value *pow_of_any(Value *x, Value *y);
    Value *pow_specials(Value *magnitude, Value *x, Value *y);
    void reduce_angle(Value *x, Value **r, Value **quadrant);
    void reduce_narrow_angle(Value *x, Value **r, Value **quadrant);
    Value *sine_or_cosine(Value *x, int quadrants);
    Value *narrow_sine_or_cosine(Value *x, int quadrants);
    Value *narrow_sine_and_cosine(Value *x);
    Value *of_quadrant(Value *sine, Value *cosine, Value *q, int more_quadrants);
    Value *sine_kernel(Value *r);
    Value *cosine_kernel(Value *r);
    Value *unless_large(Value *x, double limit, Value *fast, const char *name);
    /// sin, cos or tan of scalars of any size, where there is no C library.
    Value *of_large_angle(const std::string &name, Value *x);
    void reduce_large_angle(Value *x, Value **r, Value **quadrant);
    Value *scaled_fraction(Value *fraction);
    Value *arc_tangent_of_ratio(Value *small, Value *large);
    Value *in_double(Value *(MathEmitter::*f)(Value *), Value *x);
    /// This value computed in float64, and back.
    Value *through_double(const std::function<Value *(MathEmitter &, Value *)> &f, Value *x);

    FunctionEmitter &f_;
    llvm::IRBuilder<> &b_;
    Type type_;
    llvm::Type *float_type_, *int_type_;
};

}  // namespace calotype::internal
