// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/language/fixed_point.h"

#include "ir/constants.h"
#include "ir/expr_nodes.h"
#include "ir/language/match_types.h"
#include "ir/operators.h"
#include "support/error.h"

namespace calotype {

using namespace internal;

Expr saturating_cast(Type t, Expr e) {
    internal::check_defined("saturating_cast", e);
    user_assert(!t.is_handle() && !e.type().is_handle()) << "saturating_cast of a handle";
    t = t.with_lanes(e.type().lanes());
    if (t.is_float() || t.can_represent(e.type())) {
        return cast(t, std::move(e));
    }
    return Call::make(t, Intrinsic::saturating_cast, {std::move(e)});
}

namespace {

void check_integer(const char *op, const Expr &x) {
    internal::check_defined(op, x);
    user_assert(x.type().is_int_or_uint())
        << op << " of type " << x.type() << ", must be an integer";
}

void check_widenable(const char *op, const Type &t) {
    user_assert(t.bits() <= 32) << op << " of type " << t << ", must have at most 32 bits";
}

Expr widen_right(const char *op, Intrinsic id, Expr a, Expr b) {
    check_integer(op, a);
    check_integer(op, b);
    internal::match_lanes(op, a, b);
    user_assert(a.type().bits() == b.type().bits() * 2)
        << op << " of types " << a.type() << " and " << b.type()
        << ", the first must have twice the bits";
    const Type t = a.type();
    return Call::make(t, id, {std::move(a), std::move(b)});
}

/// Of floats, which are exact in the wider type but for the sum of far apart ones.
Expr widening_of_floats(const char *op, Intrinsic id, Expr a, Expr b) {
    internal::match_types(op, a, b);
    check_widenable(op, a.type());
    const Type t = Float(2 * a.type().bits(), a.type().lanes());
    a = cast(t, std::move(a));
    b = cast(t, std::move(b));
    if (id == Intrinsic::widening_mul) {
        return std::move(a) * std::move(b);
    }
    return id == Intrinsic::widening_add ? std::move(a) + std::move(b)
                                         : std::move(a) - std::move(b);
}

Expr widening(const char *op, Intrinsic id, Expr a, Expr b) {
    internal::check_defined(op, a);
    internal::check_defined(op, b);
    if (a.type().is_float() || b.type().is_float()) {
        return widening_of_floats(op, id, std::move(a), std::move(b));
    }
    check_integer(op, a);
    check_integer(op, b);
    if (id == Intrinsic::widening_mul) {
        internal::match_bits(op, a, b);
    } else {
        internal::match_types(op, a, b);
    }
    check_widenable(op, a.type());
    const bool is_signed = a.type().is_int() || b.type().is_int() || id == Intrinsic::widening_sub;
    const Type t = a.type().widen().with_code(is_signed ? Type::Int : Type::UInt);
    return Call::make(t, id, {std::move(a), std::move(b)});
}

Expr same_type(const char *op, Intrinsic id, Expr a, Expr b) {
    check_integer(op, a);
    check_integer(op, b);
    internal::match_types(op, a, b);
    const Type t = a.type();
    return Call::make(t, id, {std::move(a), std::move(b)});
}

Expr shift(const char *op, Intrinsic id, Expr a, Expr b) {
    internal::match_bits(op, a, b);
    const bool widens =
        id == Intrinsic::widening_shift_left || id == Intrinsic::widening_shift_right;
    if (widens) {
        check_widenable(op, a.type());
    }
    const Type t = widens ? a.type().widen() : a.type();
    return Call::make(t, id, {std::move(a), std::move(b)});
}

/// The constant as a shift amount for a: of its bits, signed if negative.
Expr shift_literal(const char *op, const Expr &a, int b) {
    check_integer(op, a);
    const Type t = a.type();
    user_assert(-t.bits() < b && b < t.bits())
        << op << " of type " << t << " by " << b << ", must be less than " << t.bits()
        << " either way";
    return make_const(b < 0 ? t.with_code(Type::Int) : t, b);
}

Expr multiply_shift(const char *op, Intrinsic id, Expr a, Expr b, Expr q) {
    check_integer(op, a);
    check_integer(op, b);
    check_integer(op, q);
    internal::match_types(op, a, b);
    const Type t = a.type();
    Expr shift = internal::lossless_cast(t.with_code(Type::UInt), q);
    user_assert(shift.defined() || q.type().bits() <= t.bits())
        << op << " of type " << t << " by a shift of type " << q.type()
        << ", which may not fit; cast it";
    if (!shift.defined()) {
        shift = cast(t.with_code(Type::UInt), q);
    }
    return Call::make(t, id, {std::move(a), std::move(b), std::move(shift)});
}

Expr multiply_shift(const char *op, Intrinsic id, Expr a, Expr b, int q) {
    check_integer(op, a);
    user_assert(q >= 0 && q < 2 * a.type().bits())
        << op << " of type " << a.type() << " by " << q << ", must be from 0 to "
        << 2 * a.type().bits() - 1;
    Expr shift = make_const(a.type().with_code(Type::UInt), q);
    return multiply_shift(op, id, std::move(a), std::move(b), std::move(shift));
}

}  // namespace

#define TWO_OPERANDS(name, rule)                                                                   \
    Expr name(Expr a, Expr b) {                                                                    \
        return rule(#name, Intrinsic::name, std::move(a), std::move(b));                           \
    }
#define SHIFT(name)                                                                                \
    TWO_OPERANDS(name, shift)                                                                      \
    Expr name(Expr a, int b) {                                                                     \
        Expr amount = shift_literal(#name, a, b);                                                  \
        return name(std::move(a), std::move(amount));                                              \
    }
#define MULTIPLY_SHIFT(name)                                                                       \
    Expr name(Expr a, Expr b, Expr q) {                                                            \
        return multiply_shift(#name, Intrinsic::name, std::move(a), std::move(b), std::move(q));   \
    }                                                                                              \
    Expr name(Expr a, Expr b, int q) {                                                             \
        return multiply_shift(#name, Intrinsic::name, std::move(a), std::move(b), q);              \
    }
TWO_OPERANDS(widen_right_add, widen_right)
TWO_OPERANDS(widen_right_mul, widen_right)
TWO_OPERANDS(widen_right_sub, widen_right)
TWO_OPERANDS(widening_add, widening)
TWO_OPERANDS(widening_mul, widening)
TWO_OPERANDS(widening_sub, widening)
SHIFT(widening_shift_left)
SHIFT(widening_shift_right)
SHIFT(rounding_shift_left)
SHIFT(rounding_shift_right)
TWO_OPERANDS(saturating_add, same_type)
TWO_OPERANDS(saturating_sub, same_type)
TWO_OPERANDS(halving_add, same_type)
TWO_OPERANDS(rounding_halving_add, same_type)
TWO_OPERANDS(halving_sub, same_type)
MULTIPLY_SHIFT(mul_shift_right)
MULTIPLY_SHIFT(rounding_mul_shift_right)
#undef TWO_OPERANDS
#undef SHIFT
#undef MULTIPLY_SHIFT

}  // namespace calotype
