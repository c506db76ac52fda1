// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For integers n and d > 0 the quotient (n + 1/2) / d is at least 1 / (2 d) away from every
// integer, so its floor is that of n / d even after rounding errors much larger than those of a
// float division of the right width: with |n| < 2^16 the error in float32 is below 2^-6 / d, with
// |n| < 2^32 in float64 below 2^-19 / d.
#include "ir/language/fast_divide.h"

#include "ir/language/match_types.h"
#include "ir/operators.h"
#include "support/error.h"

namespace calotype {

namespace {

void check_operands(const char *op, const Expr &numerator, const Expr &denominator) {
    internal::check_defined(op, numerator, denominator);
    const Type n = numerator.type(), d = denominator.type();
    user_assert(n.is_int_or_uint() && (n.bits() == 8 || n.bits() == 16 || n.bits() == 32))
        << op << " of type " << n << ", must be an integer of 8, 16 or 32 bits";
    user_assert(d.element_of() == UInt(8))
        << op << " by a denominator of type " << d << ", must be uint8";
}

/// The quotient before rounding.
Expr quotient(const Expr &numerator, const Expr &denominator) {
    const Type t = Float(numerator.type().bits() == 32 ? 64 : 32, numerator.type().lanes());
    return (cast(t, numerator) + 0.5f) / cast(t, denominator);
}

}  // namespace

Expr fast_integer_divide(const Expr &numerator, const Expr &denominator) {
    check_operands("fast_integer_divide", numerator, denominator);
    return cast(numerator.type(), floor(quotient(numerator, denominator)));
}

Expr fast_integer_divide_round_to_zero(const Expr &numerator, const Expr &denominator) {
    check_operands("fast_integer_divide_round_to_zero", numerator, denominator);
    const Type t = numerator.type();
    if (t.is_uint()) {
        return cast(t, floor(quotient(numerator, denominator)));
    }
    // The sign is put back before the cast: the magnitude of the smallest numerator does not fit
    // its type.
    const Expr magnitude = floor(quotient(abs(numerator), denominator));
    return cast(t, select(numerator < 0, -magnitude, magnitude));
}

Expr fast_integer_modulo(const Expr &numerator, const Expr &denominator) {
    check_operands("fast_integer_modulo", numerator, denominator);
    const Expr ratio = cast(numerator.type(), floor(quotient(numerator, denominator)));
    return numerator - ratio * cast(numerator.type(), denominator);
}

}  // namespace calotype
