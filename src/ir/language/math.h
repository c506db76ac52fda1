// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floating-point functions. An integer operand is converted to float32 first; the result has the
// (converted) type of the operand unless said otherwise. Include ir/operators.h.
#pragma once

#include "ir/expr.h"

namespace calotype {

Expr sin(Expr x);
Expr cos(Expr x);
Expr tan(Expr x);
Expr asin(Expr x);
Expr acos(Expr x);
Expr atan(Expr x);
/// The angle of the point (x, y).
Expr atan2(Expr y, Expr x);
Expr sinh(Expr x);
Expr cosh(Expr x);
Expr tanh(Expr x);
Expr asinh(Expr x);
Expr acosh(Expr x);
Expr atanh(Expr x);
Expr sqrt(Expr x);
/// sqrt(x * x + y * y)
Expr hypot(const Expr &x, const Expr &y);
Expr exp(Expr x);  ///< Subnormal results may be zero.
Expr log(Expr x);
/// x to the power y. A constant integer y is expanded into multiplications, and then x may be an
/// integer.
Expr pow(Expr x, Expr y);
Expr erf(const Expr &x);
/// a * b + c rounded once.
Expr fma(Expr a, Expr b, Expr c);

/// Of float32, faster and less accurate than the function without fast_: polynomials that
/// vectorize. The error is at most about 3e-6, 5e-6 for exp without FMA (relative for exp, log away
/// from 1, and pow of moderate exponent; absolute for sin and cos of |x| < 2^13). Those two take all
/// numbers, and compute in float32.
Expr fast_sin(const Expr &x);
Expr fast_cos(const Expr &x);
/// Of x > 0.
Expr fast_log(const Expr &x);
/// Results below 2^-125 may be zero.
Expr fast_exp(const Expr &x);
/// Of x >= 0.
Expr fast_pow(Expr x, Expr y);
/// 1 / x and 1 / sqrt(x) by the machine's approximation, where it has one; float32.
Expr fast_inverse(Expr x);
Expr fast_inverse_sqrt(Expr x);
/// The nearest float32 with 10 bits of fraction (ties away from zero): a number that GPUs multiply by
/// matrix instructions (NVIDIA's TF32 format), see Stage::gpu_matrix_multiply.
Expr tf32(Expr x);
/// Its next towards zero: the last 13 bits of x are cleared. Matrix instructions that read operands
/// from shared memory themselves take floats so.
Expr truncate_to_tf32(Expr x);

/// The nearest integral value that is not above, not below, nearest (ties to even), not farther
/// from zero.
Expr floor(Expr x);
Expr ceil(Expr x);
Expr round(Expr x);
Expr trunc(Expr x);
/// x - trunc(x)
Expr fract(const Expr &x);

/// Bools, also where the compiler otherwise assumes that there are no NaNs and infinities.
Expr is_nan(Expr x);
Expr is_inf(Expr x);
Expr is_finite(Expr x);

/// zero_val + (one_val - zero_val) * weight, in the type of the two values. An unsigned weight of n
/// bits stands for weight / (2^n - 1) and is rounded to nearest; a float weight is from 0 to 1.
Expr lerp(Expr zero_val, Expr one_val, Expr weight);

}  // namespace calotype
