// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bounds of conversions.
#include "arith/bounds/bounds_engine.h"
#include "arith/bounds/ends.h"
#include "ir/constants.h"

namespace calotype::internal {

namespace {

/// The condition that integer e has a value of `to`, which is int32 or int64.
Expr fits_condition(const Expr &e, Type to) {
    const Type from = e.type();
    const uint64_t largest = from.is_int() ? uint64_t(from.imax()) : from.umax();
    Expr result = const_true();
    if (largest > uint64_t(to.imax())) {
        result = ends::less_equal(e, make_const(from, to.imax()));
    }
    if (from.is_int() && from.imin() < to.imin()) {
        result = ends::logical_and(result, ends::less_equal(make_const(from, to.imin()), e));
    }
    return result;
}

/// The constants of type `to` within which values between the ends, floats, are: a clamp has them whatever it clamps.
ConstantInterval constants_around(const Interval &i, Type to) {
    const auto bounds = [](const Expr &e) {
        return e.defined() ? bounds_of_expr(e, Scope<Interval>(), {}, true) : Interval();
    };
    return as_constant_interval(
        Interval(ends::cast(to, bounds(i.min).min), ends::cast(to, bounds(i.max).max)));
}

}  // namespace

Bounded BoundsEngine::cast(const Bounded &value, Type from, Type to) {
    if (from == to) {
        return value;
    }
    if (value.is_point() && !const_bound_) {
        const Expr folded = is_const(value.ends.min) ? ends::cast(to, value.ends.min) : Expr();
        const ConstantInterval range = cast_to_int(value, from, to).range;
        return of_point(folded.defined() ? folded : Cast::make(to, value.ends.min), range);
    }
    if (to.is_int_or_uint()) {
        return cast_to_int(value, from, to);
    }
    if (to.is_float() && (from.is_float() || from.is_int_or_uint())) {
        // Rounding keeps the order.
        return {Interval(ends::cast(to, value.ends.min), ends::cast(to, value.ends.max)),
                ConstantInterval::everything()};
    }
    return of_type(to);
}

Bounded BoundsEngine::cast_to_int(const Bounded &value, Type from, Type to) {
    if (!to.is_int_or_uint()) {
        return of_type(to);
    }
    if (to.is_bool()) {
        if (!from.is_int_or_uint()) {
            return of_type(to);
        }
        const ConstantInterval zero = ConstantInterval::single(0);
        return excludes_zero(value.range) ? of_range(ConstantInterval::single(1), to)
               : value.range == zero      ? of_range(zero, to)
                                          : of_type(to);
    }
    const Interval converted(ends::cast(to, value.ends.min), ends::cast(to, value.ends.max));
    if (from.is_float()) {
        // Truncation keeps the order; what does not fit is undefined. Of narrow types one end alone
        // may mislead, as the conversion of the other may wrap on the way.
        if (to.can_overflow()) {
            const ConstantInterval range = constants_around(value.ends, to);
            return range.is_bounded() ? of_range(range, to) : of_type(to);
        }
        return {converted, fit(as_constant_interval(converted), to)};
    }
    if (!from.is_int_or_uint()) {
        return of_type(to);
    }
    const ConstantInterval known = intersection(value.range, ConstantInterval::of_type(from));
    if (to.can_represent(from)) {
        return {converted, known};
    }
    const ConstantInterval range = fits(known, to) ? known : ConstantInterval::of_type(to);
    if (to.can_overflow() || !value.ends.is_bounded()) {
        return of_range(range, to);
    }
    // int64 or unsigned to int32, or the like: the ends are right if they fit when the code runs.
    const Expr fit =
        ends::logical_and(fits_condition(value.ends.min, to), fits_condition(value.ends.max, to));
    if (is_const_zero(fit)) {
        return of_range(range, to);
    }
    const Expr least = make_const(to, *range.min), most = make_const(to, *range.max);
    return {Interval(ends::select(fit, converted.min.defined() ? converted.min : least, least),
                     ends::select(fit, converted.max.defined() ? converted.max : most, most)),
            range};
}

}  // namespace calotype::internal
