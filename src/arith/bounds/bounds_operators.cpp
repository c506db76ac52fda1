// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bounds of the arithmetic, comparison and logic operators.
#include "arith/bounds/bounds_engine.h"
#include "arith/bounds/ends.h"
#include "arith/difference_range.h"
#include "ir/constants.h"
#include "ir/equality.h"

namespace calotype::internal {

namespace {

enum class Sign { Unknown, NonNegative, NonPositive };

Sign sign_of(const Bounded &b, Type t) {
    if (!t.is_float()) {
        return is_non_negative(b.range)   ? Sign::NonNegative
               : is_non_positive(b.range) ? Sign::NonPositive
                                          : Sign::Unknown;
    }
    const auto low = as_const_float(b.ends.min), high = as_const_float(b.ends.max);
    return low && *low >= 0     ? Sign::NonNegative
           : high && *high <= 0 ? Sign::NonPositive
                                : Sign::Unknown;
}

Interval swapped(const Interval &i) {
    return {i.max, i.min};
}

/// { x * p : x in i } for one p of known or unknown sign.
Interval scaled(const Interval &i, const Expr &p, Sign sign) {
    const Interval up(ends::mul(i.min, p), ends::mul(i.max, p));
    switch (sign) {
    case Sign::NonNegative:
        return up;
    case Sign::NonPositive:
        return swapped(up);
    case Sign::Unknown:
        break;
    }
    return {ends::min(up.min, up.max), ends::max(up.min, up.max)};
}

/// The lower end of something that is known not to be negative, although this end may be.
Expr at_least_zero(const Expr &end) {
    return end.defined() ? ends::max(end, make_zero(end.type())) : end;
}

/// The upper end of something that is known not to be positive, although this end may be.
Expr at_most_zero(const Expr &end) {
    return end.defined() ? ends::min(end, make_zero(end.type())) : end;
}

/// The product of two intervals, neither of them a point, by the corners that matter.
Interval product(const Interval &a, Sign sa, const Interval &b, Sign sb) {
    if (sa == Sign::Unknown && sb == Sign::Unknown) {
        const Interval low = scaled(a, b.min, sb), high = scaled(a, b.max, sb);
        return {ends::min(low.min, high.min), ends::max(low.max, high.max)};
    }
    if (sa == Sign::Unknown) {
        return product(b, sb, a, sa);
    }
    if (sa == Sign::NonPositive) {
        const Sign flipped = sb == Sign::NonNegative   ? Sign::NonPositive
                             : sb == Sign::NonPositive ? Sign::NonNegative
                                                       : Sign::Unknown;
        return product({ends::neg(a.max), ends::neg(a.min)}, Sign::NonNegative,
                       {ends::neg(b.max), ends::neg(b.min)}, flipped);
    }
    // a >= 0: a negative end of b is stretched by the largest a, a positive one by the smallest.
    const Expr smallest = at_least_zero(a.min);
    switch (sb) {
    case Sign::NonNegative:
        return {ends::mul(smallest, at_least_zero(b.min)), ends::mul(a.max, b.max)};
    case Sign::NonPositive:
        return {ends::mul(a.max, b.min), ends::mul(smallest, at_most_zero(b.max))};
    case Sign::Unknown:
        break;
    }
    return {ends::min(ends::mul(smallest, b.min), ends::mul(a.max, b.min)),
            ends::max(ends::mul(smallest, b.max), ends::mul(a.max, b.max))};
}

/// The exact result of a point operation, folded where both are constants.
template<typename Node>
Expr point(const Bounded &a, const Bounded &b) {
    return Node::make(a.ends.min, b.ends.min);
}

bool both_points(const Bounded &a, const Bounded &b) {
    return a.is_point() && b.is_point();
}

Bounded bool_range(const Expr &low, const Expr &high) {
    ConstantInterval r = ConstantInterval::of(0, 1);
    if (low.defined() && is_const_one(low)) {
        r.min = 1;
    }
    if (high.defined() && is_const_zero(high)) {
        r.max = 0;
    }
    return {Interval(low.defined() ? low : const_false(), high.defined() ? high : const_true()), r};
}

/// a % b, as it is found of a difference a - a / b * b; undefined for other differences.
Expr remainder_written_out(const Sub *op) {
    const Mul *multiple = op->b.as<Mul>();
    if (!multiple || !op->type.is_int_or_uint()) {
        return Expr();
    }
    for (const auto &[quotient, divisor] :
         {std::pair(multiple->a, multiple->b), std::pair(multiple->b, multiple->a)}) {
        const Div *div = quotient.as<Div>();
        if (div && equal(div->b, divisor) && equal(div->a, op->a)) {
            return Mod::make(op->a, divisor);
        }
    }
    return Expr();
}

}  // namespace

Bounded BoundsEngine::arithmetic(const ConstantInterval &range, const Interval &ends,
                                 Type t) const {
    if (!t.is_int_or_uint()) {
        return {ends, ConstantInterval::everything()};
    }
    // The value of a symbolic end may lie outside of the range, so that where the type wraps, the
    // range alone can be trusted.
    return {t.can_overflow() ? Interval::everything() : ends, fit(range, t)};
}

Bounded BoundsEngine::add(const Bounded &a, const Bounded &b, Type t) {
    const ConstantInterval range = a.range + b.range;
    if (both_points(a, b)) {
        // Where a constant would overflow, there is no constant: the operator stays.
        const Expr sum = ends::add(a.ends.min, b.ends.min);
        return of_point(sum.defined() ? sum : point<Add>(a, b), fit(range, t));
    }
    return arithmetic(range, {ends::add(a.ends.min, b.ends.min), ends::add(a.ends.max, b.ends.max)},
                      t);
}

Bounded BoundsEngine::sub(const Bounded &a, const Bounded &b, Type t) {
    const ConstantInterval range = a.range - b.range;
    if (both_points(a, b)) {
        const Expr difference = ends::sub(a.ends.min, b.ends.min);
        return of_point(difference.defined() ? difference : point<Sub>(a, b), fit(range, t));
    }
    return arithmetic(range, {ends::sub(a.ends.min, b.ends.max), ends::sub(a.ends.max, b.ends.min)},
                      t);
}

Bounded BoundsEngine::mul(const Bounded &a, const Bounded &b, Type t) {
    const ConstantInterval range = a.range * b.range;
    if (both_points(a, b)) {
        const Expr product = ends::mul(a.ends.min, b.ends.min);
        return of_point(product.defined() ? product : point<Mul>(a, b), fit(range, t));
    }
    Interval ends;
    if (b.is_point()) {
        ends = scaled(a.ends, b.ends.min, sign_of(b, t));
    } else if (a.is_point()) {
        ends = scaled(b.ends, a.ends.min, sign_of(a, t));
    } else {
        ends = product(a.ends, sign_of(a, t), b.ends, sign_of(b, t));
    }
    return arithmetic(range, ends, t);
}

Bounded BoundsEngine::square(const Bounded &a, Type t) {
    Bounded result = mul(a, a, t);
    if (t.can_overflow() && !fits(a.range * a.range, t)) {
        return result;
    }
    const ConstantInterval not_negative = ConstantInterval::at_least(0);
    if (t.is_int_or_uint()) {
        result.range = intersection(result.range, not_negative);
    }
    if (sign_of(a, t) == Sign::Unknown && !a.is_point()) {
        const Expr low = ends::mul(a.ends.min, a.ends.min);
        const Expr high = ends::mul(a.ends.max, a.ends.max);
        result.ends = Interval(make_zero(t), ends::max(low, high));
    }
    return result;
}

Interval BoundsEngine::float_div(const Bounded &a, const Bounded &b) const {
    const auto low = as_const_float(b.ends.min), high = as_const_float(b.ends.max);
    const bool positive = low && *low > 0, negative = high && *high < 0;
    if (b.is_point() && (positive || negative)) {
        const Interval up(ends::div(a.ends.min, b.ends.min), ends::div(a.ends.max, b.ends.min));
        return positive ? up : swapped(up);
    }
    if (b.is_point()) {  // of either sign: the quotient grows with the dividend, or falls
        const Expr first = ends::div(a.ends.min, b.ends.min),
                   last = ends::div(a.ends.max, b.ends.min);
        return {ends::min(first, last), ends::max(first, last)};
    }
    if (!positive && !negative) {
        return Interval::everything();
    }
    const Interval near(ends::div(a.ends.min, b.ends.min), ends::div(a.ends.max, b.ends.min));
    const Interval far(ends::div(a.ends.min, b.ends.max), ends::div(a.ends.max, b.ends.max));
    return {ends::min(ends::min(near.min, near.max), ends::min(far.min, far.max)),
            ends::max(ends::max(near.min, near.max), ends::max(far.min, far.max))};
}

/// The quotient of integers where it does not wrap. Rounding never crosses an integer, so that the
/// quotient by a fixed positive number grows with the dividend, and by a negative one falls.
Interval BoundsEngine::int_div(const Bounded &a, const Bounded &b) const {
    const Type t = (a.ends.min.defined() ? a.ends.min : b.ends.min).type();
    if (b.is_point() && excludes_zero(b.range)) {
        const Interval up(ends::div(a.ends.min, b.ends.min), ends::div(a.ends.max, b.ends.min));
        return is_positive(b.range) ? up : swapped(up);
    }
    const Expr zero = make_zero(t);
    if (is_positive(b.range)) {
        // Towards zero (or -1) with a growing divisor. The end of the divisor may be smaller than
        // what is known of its value.
        const Expr least = ends::max_or_other(b.ends.min, make_const(t, *b.range.min));
        const Expr low = ends::div(a.ends.min, least), high = ends::div(a.ends.max, least);
        Interval result(is_non_negative(a.range) ? zero : ends::min(low, zero),
                        is_negative(a.range) ? make_const(t, int64_t(-1)) : ends::max(high, zero));
        if (is_non_negative(a.range) && b.ends.max.defined()) {
            result.min = ends::div(a.ends.min, b.ends.max);
        }
        if (is_negative(a.range) && b.ends.max.defined()) {
            result.max = ends::div(a.ends.max, b.ends.max);
        }
        return result;
    }
    if (b.is_point() && a.ends.min.defined() && a.ends.max.defined()) {
        // Where the sign is known later, so is which end is which. By zero it is zero.
        const Interval up(ends::div(a.ends.min, b.ends.min), ends::div(a.ends.max, b.ends.min));
        const Expr grows = ends::less_equal(zero, b.ends.min);
        return {ends::select(grows, up.min, up.max), ends::select(grows, up.max, up.min)};
    }
    // No quotient is larger in magnitude than its dividend, and by zero it is zero.
    if (is_non_negative(a.range)) {
        const bool never_negative = is_non_negative(b.range);
        return {never_negative ? zero : ends::neg(a.ends.max), a.ends.max};
    }
    return {ends::min(a.ends.min, ends::neg(a.ends.max)),
            ends::max(a.ends.max, ends::neg(a.ends.min))};
}

Bounded BoundsEngine::div(const Bounded &a, const Bounded &b, Type t) {
    if (t.is_float()) {
        if (both_points(a, b)) {
            const Expr quotient = ends::div(a.ends.min, b.ends.min);
            return of_point(quotient.defined() ? quotient : point<Div>(a, b), {});
        }
        return {float_div(a, b), ConstantInterval::everything()};
    }
    // Only the smallest value over -1 leaves the type.
    const ConstantInterval range = a.range / b.range;
    if (both_points(a, b)) {
        return of_point(point<Div>(a, b), fit(range, t));
    }
    const bool ends_needed = a.ends.min.defined() || b.ends.min.defined();
    return arithmetic(range, ends_needed ? int_div(a, b) : Interval::everything(), t);
}

Interval BoundsEngine::int_mod(const Bounded &a, const Bounded &b) const {
    const Type t = b.ends.max.type();
    const Expr zero = make_zero(t), one = make_one(t);
    Expr high;
    if (is_positive(b.range)) {
        high = ends::sub(b.ends.max, one);
    } else if (is_non_negative(b.range)) {
        high = ends::max(ends::sub(ends::max(b.ends.max, one), one), zero);
    } else {
        const Expr magnitude = ends::max(b.ends.max, ends::neg(b.ends.min));
        high = ends::sub(ends::max(magnitude, one), one);
    }
    if (is_non_negative(a.range)) {
        high = high.defined() && a.ends.max.defined() ? ends::min(a.ends.max, high) : a.ends.max;
    }
    return {zero, high};
}

Bounded BoundsEngine::mod(const Bounded &a, const Bounded &b, Type t) {
    if (t.is_float()) {
        return both_points(a, b) ? of_point(point<Mod>(a, b), {}) : of_type(t);
    }
    const ConstantInterval range = fit(a.range % b.range, t);
    if (both_points(a, b)) {
        return of_point(point<Mod>(a, b), range);
    }
    if (b.range.is_single() && *b.range.min > 0) {
        // All values may lie between two multiples of the divisor: then nothing is folded.
        const int64_t d = *b.range.min;
        if (a.range.is_bounded() &&
            euclidean_div(*a.range.min, d) == euclidean_div(*a.range.max, d)) {
            const ConstantInterval kept = ConstantInterval::of(euclidean_mod(*a.range.min, d),
                                                               euclidean_mod(*a.range.max, d));
            return {make_interval(kept, t), kept};
        }
    }
    const bool negation_safe = !t.can_overflow() || is_non_negative(b.range);
    if (!b.ends.max.defined() || !negation_safe) {
        return of_range(range, t);
    }
    return {int_mod(a, b), range};
}

Bounded BoundsEngine::less(const Bounded &a, const Bounded &b) {
    if (both_points(a, b)) {
        const Expr e = ends::less(a.ends.min, b.ends.min);
        return of_point(e, bool_range(e, e).range);
    }
    Expr low, high;
    if (a.ends.max.defined() && b.ends.min.defined()) {
        low = ends::less(a.ends.max, b.ends.min);
    }
    if (a.ends.min.defined() && b.ends.max.defined()) {
        high = ends::less(a.ends.min, b.ends.max);
    }
    Bounded result = bool_range(low, high);
    if (always_less(a.range, b.range)) {
        result.range.min = 1;
    }
    if (always_less_equal(b.range, a.range)) {
        result.range.max = 0;
    }
    return result;
}

Bounded BoundsEngine::less_equal(const Bounded &a, const Bounded &b) {
    return negated(less(b, a));
}

Bounded BoundsEngine::negated(const Bounded &a) {
    const ConstantInterval range = ConstantInterval::single(1) - a.range;
    if (a.is_point()) {
        return of_point(ends::logical_not(a.ends.min), range);
    }
    return {Interval(a.ends.max.defined() ? ends::logical_not(a.ends.max) : const_false(),
                     a.ends.min.defined() ? ends::logical_not(a.ends.min) : const_true()),
            range};
}

Bounded BoundsEngine::equals(const Bounded &a, const Bounded &b) {
    if (both_points(a, b)) {
        const Expr e = is_const(a.ends.min) && is_const(b.ends.min)
                           ? ends::logical_and(ends::less_equal(a.ends.min, b.ends.min),
                                               ends::less_equal(b.ends.min, a.ends.min))
                           : EQ::make(a.ends.min, b.ends.min);
        return of_point(e, bool_range(e, e).range);
    }
    // Equal for sure needs points; maybe equal needs ranges that overlap.
    Expr may = const_true();
    if (a.ends.min.defined() && b.ends.max.defined()) {
        may = ends::less_equal(a.ends.min, b.ends.max);
    }
    if (b.ends.min.defined() && a.ends.max.defined()) {
        may = ends::logical_and(may, ends::less_equal(b.ends.min, a.ends.max));
    }
    Bounded result = bool_range(const_false(), may);
    if (always_less(a.range, b.range) || always_less(b.range, a.range)) {
        result.range.max = 0;
    }
    return result;
}

Bounded BoundsEngine::visit(const Add *op) {
    return add(bounds(op->a), bounds(op->b), op->type.element_of());
}

Bounded BoundsEngine::visit(const Sub *op) {
    const Type t = op->type.element_of();
    if (const Expr remainder = remainder_written_out(op); remainder.defined()) {
        // Nothing is taken away where the divisor is zero.
        const Expr &divisor = remainder.as<Mod>()->b;
        return choice(EQ::make(divisor, make_zero(divisor.type())), op->a, remainder);
    }
    Bounded result = sub(bounds(op->a), bounds(op->b), t);
    if (result.is_point()) {
        return result;
    }
    // What follows from the forms of both: they may go up and down together.
    const ConstantInterval apart = difference_range(op->a, op->b);
    result.range = within(result.range, apart);
    if (apart.min) {
        result.ends.min = ends::max(result.ends.min, make_const(t, *apart.min));
    }
    if (apart.max) {
        result.ends.max = ends::min(result.ends.max, make_const(t, *apart.max));
    }
    return result;
}

Bounded BoundsEngine::visit(const Mul *op) {
    const Type t = op->type.element_of();
    const Bounded a = bounds(op->a);
    return op->a.same_as(op->b) ? square(a, t) : mul(a, bounds(op->b), t);
}

Bounded BoundsEngine::visit(const Div *op) {
    return div(bounds(op->a), bounds(op->b), op->type.element_of());
}

Bounded BoundsEngine::visit(const Mod *op) {
    return mod(bounds(op->a), bounds(op->b), op->type.element_of());
}

Bounded BoundsEngine::visit(const Min *op) {
    const Bounded a = bounds(op->a), b = bounds(op->b);
    const ConstantInterval range = internal::min(a.range, b.range);
    if (both_points(a, b)) {
        return of_point(ends::min(a.ends.min, b.ends.min), range);
    }
    return {Interval(ends::min(a.ends.min, b.ends.min), ends::min_or_other(a.ends.max, b.ends.max)),
            range};
}

Bounded BoundsEngine::visit(const Max *op) {
    const Bounded a = bounds(op->a), b = bounds(op->b);
    const ConstantInterval range = internal::max(a.range, b.range);
    if (both_points(a, b)) {
        return of_point(ends::max(a.ends.min, b.ends.min), range);
    }
    return {Interval(ends::max_or_other(a.ends.min, b.ends.min), ends::max(a.ends.max, b.ends.max)),
            range};
}

Bounded BoundsEngine::visit(const EQ *op) {
    return equals(bounds(op->a), bounds(op->b));
}

Bounded BoundsEngine::visit(const NE *op) {
    return negated(equals(bounds(op->a), bounds(op->b)));
}

Bounded BoundsEngine::visit(const LT *op) {
    return less(bounds(op->a), bounds(op->b));
}

Bounded BoundsEngine::visit(const LE *op) {
    return less_equal(bounds(op->a), bounds(op->b));
}

Bounded BoundsEngine::visit(const GT *op) {
    return less(bounds(op->b), bounds(op->a));
}

Bounded BoundsEngine::visit(const GE *op) {
    return less_equal(bounds(op->b), bounds(op->a));
}

Bounded BoundsEngine::visit(const And *op) {
    const Bounded a = bounds(op->a), b = bounds(op->b);
    const ConstantInterval range = internal::min(a.range, b.range);
    if (both_points(a, b)) {
        return of_point(ends::logical_and(a.ends.min, b.ends.min), range);
    }
    return {Interval(ends::logical_and(a.ends.min, b.ends.min),
                     ends::logical_and(a.ends.max, b.ends.max)),
            range};
}

Bounded BoundsEngine::visit(const Or *op) {
    const Bounded a = bounds(op->a), b = bounds(op->b);
    const ConstantInterval range = internal::max(a.range, b.range);
    if (both_points(a, b)) {
        return of_point(ends::logical_or(a.ends.min, b.ends.min), range);
    }
    return {Interval(ends::logical_or(a.ends.min, b.ends.min),
                     ends::logical_or(a.ends.max, b.ends.max)),
            range};
}

Bounded BoundsEngine::visit(const Not *op) {
    return negated(bounds(op->a));
}

}  // namespace calotype::internal
