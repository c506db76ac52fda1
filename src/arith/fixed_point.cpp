// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arith/fixed_point.h"

#include <algorithm>

#include "arith/bounds.h"
#include "arith/constant_interval.h"
#include "arith/exact_types.h"
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

/// value * factor + offset, clamped to `limits`.
struct Clamped {
    Expr value;
    int64_t factor, offset;
    ConstRange limits;
};

Clamped without_limits(const Expr &e) {
    return {e, 1, 0, ConstRange::everything()};
}

/// c * factor + offset, which is e; e as it is where that may wrap.
Clamped moved(const Expr &e, const Clamped &c, int64_t factor, int64_t offset) {
    const Clamped r = {c.value, c.factor * factor, c.offset * factor + offset,
                       c.limits * ConstRange::single(factor) + ConstRange::single(offset)};
    const auto [least, most] = std::minmax(r.factor, r.offset);
    const bool keeps_order = is_exact_int(e.type()) || fits(r.limits, e.type().element_of());
    return keeps_order && fits(ConstRange::of(least, most), Int(32)) ? r : without_limits(e);
}

/// e, with the constants of its sums, products and limits taken apart.
Clamped clamped(const Expr &e) {
    if (const Add *op = e.as<Add>(); op && as_const_int(op->b)) {
        return moved(e, clamped(op->a), 1, *as_const_int(op->b));
    }
    if (const Sub *op = e.as<Sub>(); op && as_const_int(op->a)) {
        return moved(e, clamped(op->b), -1, *as_const_int(op->a));
    }
    if (const Mul *op = e.as<Mul>(); op && as_const_int(op->b)) {
        return moved(e, clamped(op->a), *as_const_int(op->b), 0);
    }
    const Min *least = e.as<Min>();
    const Max *largest = e.as<Max>();
    const auto limit = least     ? as_const_int(least->b)
                       : largest ? as_const_int(largest->b)
                                 : std::nullopt;
    if (!limit) {
        return without_limits(e);
    }
    Clamped r = clamped(least ? least->a : largest->a);
    const ConstRange at = ConstRange::single(*limit);
    r.limits = least ? min(r.limits, at) : max(r.limits, at);
    return r;
}

/// The values of e. Those of its operands are numbers of its type.
ConstRange range_of(const Expr &e) {
    const ConstRange all = ConstRange::of_type(e.type().element_of());
    const Div *quotient = e.as<Div>();
    const ConstRange range = intersection(constant_bounds(e), all);
    return quotient ? intersection(range, range_of(quotient->a) / constant_bounds(quotient->b))
                    : range;
}

/// e + by, which does not wrap: of a quotient of a sum, what is divided has more.
Expr increased(const Expr &e, int64_t by) {
    const Div *quotient = e.as<Div>();
    const Add *sum = quotient ? quotient->a.as<Add>() : nullptr;
    const int64_t divisor = sum ? as_const_int(quotient->b).value_or(0) : 0;
    const auto first = sum ? as_const_int(sum->b) : std::nullopt;
    const Type t = e.type();
    if (first && divisor > 0 && fits(ConstRange::single(divisor), Int(16))) {
        const int64_t more = *first + by * divisor;
        const ConstRange all = range_of(sum->a) + ConstRange::single(more);
        if (fits(all, t.element_of()) && fits(ConstRange::single(more), t.element_of())) {
            return Div::make(Add::make(sum->a, make_const(t, more)), quotient->b);
        }
    }
    return Add::make(e, make_const(t, by));
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

Expr value_before_saturation(const Expr &e, Type to) {
    const Type from = e.type();
    if (!from.is_int() || from.bits() > 32 || !to.is_int_or_uint() || to.is_bool() ||
        from.bits() <= to.bits()) {
        return Expr();
    }
    const Clamped c = clamped(e);
    if (!(c.limits == ConstRange::of_type(to.element_of()))) {
        return Expr();
    }
    if (c.factor == 1 && c.offset == 0) {
        return c.value;
    }
    const ConstRange product = range_of(c.value) * ConstRange::single(c.factor);
    if (!fits(product, from.element_of()) ||
        !fits(product + ConstRange::single(c.offset), from.element_of())) {
        return Expr();
    }
    const Expr offset = make_const(from, c.offset);
    return c.factor == 1    ? increased(c.value, c.offset)
           : c.factor == -1 ? Sub::make(offset, c.value)
                            : Add::make(Mul::make(c.value, make_const(from, c.factor)), offset);
}

}  // namespace calotype::internal
