// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Division by a number of 8 bits that is known only at run time, without the machine's slow integer
// division. It vectorizes. Include ir/operators.h.
#pragma once

#include "ir/expr.h"

namespace calotype {

/// numerator / denominator. The numerator is an integer of 8, 16 or 32 bits, the denominator a
/// uint8, or what converts to it without loss. By constants it is plain division; by 0 the quotient
/// is 0, and so is the remainder.
Expr fast_integer_divide(const Expr &numerator, const Expr &denominator);
/// The same rounded to zero, as div_round_to_zero.
Expr fast_integer_divide_round_to_zero(const Expr &numerator, const Expr &denominator);
/// numerator % denominator, modulo 2^bits where it does not fit an int8.
Expr fast_integer_modulo(const Expr &numerator, const Expr &denominator);

}  // namespace calotype
