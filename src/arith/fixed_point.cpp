// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arith/fixed_point.h"

#include "ir/constants.h"

namespace calotype::internal {

namespace {

Expr cast(Type t, const Expr &e) {
    return e.type() == t ? e : Cast::make(t, e);
}

Type wide(const Expr &e) {
    return e.type().widen();
}

/// Signed, twice the bits: holds sums and differences of both signs.
Type wide_signed(const Expr &e) {
    return e.type().widen().with_code(e.type().is_float() ? e.type().code() : Type::Int);
}

Expr call(Intrinsic id, const Expr &a, const Expr &b) {
    return Call::make(a.type(), id, {a, b});
}

/// Clamp to the values of t, then convert.
Expr saturate(Type t, const Expr &e) {
    const Type from = e.type();
    Expr result = e;
    if (from.is_float() || t.is_float()) {
        return Expr();
    }
    const bool below = from.is_int() && (t.is_uint() || from.bits() > t.bits());
    const int magnitude_bits = t.is_uint() ? t.bits() : t.bits() - 1;
    const bool above = (from.is_uint() ? from.bits() : from.bits() - 1) > magnitude_bits;
    if (below) {
        result = Max::make(result, make_const(from, t.is_uint() ? 0 : t.imin()));
    }
    if (above) {
        result = Min::make(result, t.is_uint() ? make_const(from, t.umax())
                                               : make_const(from, uint64_t(t.imax())));
    }
    return cast(t, result);
}

/// Half of what is added before a shift right by `bits`, so that it rounds: 1 << (bits - 1), or 0
/// for no shift.
Expr rounding_term(Type t, const Expr &bits) {
    const Expr zero = make_zero(bits.type()), one = make_one(bits.type());
    const Expr amount = Max::make(Sub::make(bits, one), zero);
    const Expr half =
        call(Intrinsic::shift_left, make_one(t), cast(t.with_code(bits.type().code()), amount));
    return Select::make(GT::make(bits, zero), half, make_zero(t));
}

/// A shift right of `e` by `bits` that rounds to nearest; e's type has room for the term.
Expr shift_right_rounding(const Expr &e, const Expr &bits) {
    if (const auto n = as_const_int(bits); n && *n <= 0) {
        return Expr();
    }
    if (bits.type().is_int() && !as_const_int(bits)) {
        return Expr();  // may be a shift to the left
    }
    const Expr sum = Add::make(e, rounding_term(e.type(), bits));
    return call(Intrinsic::shift_right, sum, cast(e.type().with_code(bits.type().code()), bits));
}

Expr expand_mul_shift(const Call *op) {
    const Expr &a = op->args[0], &b = op->args[1], &bits = op->args[2];
    const Type t = a.type().widen().with_code(op->type.code());
    const Expr product = Mul::make(cast(t, a), cast(t, b));
    if (a.type().code() != b.type().code()) {
        return Expr();
    }
    if (op->is_intrinsic(Intrinsic::rounding_mul_shift_right)) {
        // Half of 2^q fits beside the largest product only up to there.
        const auto q = as_const_int(bits);
        if (!q || *q > a.type().bits()) {
            return Expr();
        }
        const Expr shifted = shift_right_rounding(product, bits);
        return shifted.defined() ? saturate(op->type, shifted) : Expr();
    }
    const Expr amount = cast(t.with_code(bits.type().code()), bits);
    return saturate(op->type, call(Intrinsic::shift_right, product, amount));
}

bool widening_is_possible(const Call *op) {
    switch (op->intrinsic) {
    case Intrinsic::widening_add:
    case Intrinsic::widening_mul:
    case Intrinsic::widening_sub:
    case Intrinsic::widening_shift_left:
    case Intrinsic::widening_shift_right:
    case Intrinsic::rounding_shift_right:
    case Intrinsic::saturating_add:
    case Intrinsic::saturating_sub:
    case Intrinsic::halving_add:
    case Intrinsic::halving_sub:
    case Intrinsic::rounding_halving_add:
    case Intrinsic::mul_shift_right:
    case Intrinsic::rounding_mul_shift_right:
        return op->args[0].type().bits() <= 32;
    case Intrinsic::widen_right_add:
    case Intrinsic::widen_right_mul:
    case Intrinsic::widen_right_sub:
        return op->args[1].type().bits() <= 32;
    case Intrinsic::saturating_cast:
        return true;
    default:
        return false;
    }
}

}  // namespace

Expr expand_fixed_point(const Call *op) {
    if (!op->is_intrinsic() || !widening_is_possible(op)) {
        return Expr();
    }
    const Expr &a = op->args[0];
    const Expr b = op->args.size() > 1 ? op->args[1] : Expr();
    const Type t = op->type;
    const auto two = [](const Expr &e) {
        return make_const(e.type(), 2);
    };
    switch (op->intrinsic) {
    case Intrinsic::widen_right_add:
        return Add::make(a, cast(t, b));
    case Intrinsic::widen_right_mul:
        return Mul::make(a, cast(t, b));
    case Intrinsic::widen_right_sub:
        return Sub::make(a, cast(t, b));
    case Intrinsic::widening_add:
        return Add::make(cast(t, a), cast(t, b));
    case Intrinsic::widening_mul:
        return Mul::make(cast(t, a), cast(t, b));
    case Intrinsic::widening_sub:
        return Sub::make(cast(t, a), cast(t, b));
    case Intrinsic::widening_shift_left:
        return call(Intrinsic::shift_left, cast(t, a), cast(t.with_code(b.type().code()), b));
    case Intrinsic::widening_shift_right:
        return call(Intrinsic::shift_right, cast(t, a), cast(t.with_code(b.type().code()), b));
    case Intrinsic::rounding_shift_right: {
        const Expr shifted = shift_right_rounding(cast(wide(a), a), b);
        return shifted.defined() ? cast(t, shifted) : Expr();
    }
    case Intrinsic::saturating_add:
        return t.is_float()
                   ? Expr()
                   : saturate(t, Add::make(cast(wide_signed(a), a), cast(wide_signed(b), b)));
    case Intrinsic::saturating_sub:
        return t.is_float()
                   ? Expr()
                   : saturate(t, Sub::make(cast(wide_signed(a), a), cast(wide_signed(b), b)));
    case Intrinsic::saturating_cast:
        return saturate(t, a);
    case Intrinsic::halving_add: {
        const Expr sum = Add::make(cast(wide(a), a), cast(wide(b), b));
        return cast(t, Div::make(sum, two(sum)));
    }
    case Intrinsic::halving_sub: {
        const Expr difference = Sub::make(cast(wide_signed(a), a), cast(wide_signed(b), b));
        return cast(t, Div::make(difference, two(difference)));
    }
    case Intrinsic::rounding_halving_add: {
        const Expr sum = Add::make(cast(wide(a), a), cast(wide(b), b));
        const Expr rounded = Add::make(sum, make_one(sum.type()));
        return cast(t, Div::make(rounded, two(rounded)));
    }
    case Intrinsic::mul_shift_right:
    case Intrinsic::rounding_mul_shift_right:
        return expand_mul_shift(op);
    default:
        return Expr();
    }
}

}  // namespace calotype::internal
