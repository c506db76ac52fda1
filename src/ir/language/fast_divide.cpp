// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For integers n and d > 0 the quotient (n + 1/2) / d is at least 1 / (2 d) away from every
// integer, so its floor is that of n / d even after rounding errors much larger than those of a
// float product with 1 / d of the right width: with |n| < 2^16 the error in float32 is below
// 2^-6 / d, with |n| < 2^32 in float64 below 2^-19 / d. 1 / d is the same in all lanes and iterations
// where d is.
#include "ir/language/fast_divide.h"

#include "ir/constants.h"
#include "ir/language/match_types.h"
#include "ir/operators.h"
#include "support/error.h"

namespace calotype {

using namespace internal;

namespace {

/// The denominator as a byte, or, if it is a constant, in the numerator's type, in which division by
/// it is fast by itself: then the numerator may be a float, too.
struct Denominator {
    Expr byte, constant;
};

Denominator checked_denominator(const char *op, const Expr &numerator, const Expr &denominator) {
    internal::check_defined(op, numerator, denominator);
    const Type n = numerator.type(), d = denominator.type();
    const Expr byte = internal::lossless_cast(UInt(8, d.lanes()), denominator);
    user_assert(byte.defined()) << op << " by a denominator of type " << d << ", must be uint8";
    const auto value = as_const_int(byte);
    if (value && *value != 0 && !n.is_handle() && n.can_represent(*value)) {
        return {byte, make_const(n, *value)};
    }
    user_assert(n.is_int_or_uint() && (n.bits() == 8 || n.bits() == 16 || n.bits() == 32))
        << op << " of type " << n << ", must be an integer of 8, 16 or 32 bits";
    return {byte, Expr()};
}

/// The quotient before rounding; by 0 it is 0.
Expr quotient(const Expr &numerator, const Expr &denominator) {
    const Type t = Float(numerator.type().bits() == 32 ? 64 : 32, numerator.type().lanes());
    const Expr reciprocal =
        select(denominator == 0, make_zero(t), make_one(t) / cast(t, denominator));
    return (cast(t, numerator) + 0.5f) * reciprocal;
}

}  // namespace

Expr fast_integer_divide(const Expr &numerator, const Expr &denominator) {
    const Denominator d = checked_denominator("fast_integer_divide", numerator, denominator);
    if (d.constant.defined()) {
        return numerator / d.constant;
    }
    return cast(numerator.type(), floor(quotient(numerator, d.byte)));
}

Expr fast_integer_divide_round_to_zero(const Expr &numerator, const Expr &denominator) {
    const Denominator d =
        checked_denominator("fast_integer_divide_round_to_zero", numerator, denominator);
    const Type t = numerator.type();
    if (d.constant.defined()) {
        return div_round_to_zero(numerator, d.constant);
    }
    if (t.is_uint()) {
        return cast(t, floor(quotient(numerator, d.byte)));
    }
    // The sign is put back before the cast: the magnitude of the smallest numerator does not fit
    // its type.
    const Expr magnitude = floor(quotient(abs(numerator), d.byte));
    return cast(t, select(numerator < 0, -magnitude, magnitude));
}

Expr fast_integer_modulo(const Expr &numerator, const Expr &denominator) {
    const Denominator d = checked_denominator("fast_integer_modulo", numerator, denominator);
    if (d.constant.defined()) {
        return numerator % d.constant;
    }
    const Expr ratio = cast(numerator.type(), floor(quotient(numerator, d.byte)));
    const Expr remainder = numerator - ratio * cast(numerator.type(), d.byte);
    return select(d.byte == 0, make_zero(remainder.type()), remainder);
}

}  // namespace calotype
