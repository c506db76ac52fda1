// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bounds of calls: Funcs, images, intrinsics.
#include <algorithm>

#include "arith/bounds/bounds_engine.h"
#include "arith/bounds/ends.h"
#include "arith/fixed_point.h"
#include "ir/constants.h"

namespace calotype::internal {

namespace {

/// [-2^k, 2^k - 1], or [0, 2^k - 1] if r has no negative value, with the smallest such k that
/// contains r.
ConstantInterval bits_hull(const ConstantInterval &r) {
    if (!r.is_bounded()) {
        return is_non_negative(r) ? ConstantInterval::at_least(0) : ConstantInterval::everything();
    }
    int k = 0;
    while (k < 62 && (*r.max > (int64_t(1) << k) - 1 || *r.min < -(int64_t(1) << k))) {
        k++;
    }
    const ConstantInterval hull =
        ConstantInterval::of(is_non_negative(r) ? 0 : -(int64_t(1) << k), (int64_t(1) << k) - 1);
    return hull.contains(r) ? hull : ConstantInterval::everything();
}

ConstantInterval bitwise_range(Intrinsic op, const ConstantInterval &a, const ConstantInterval &b) {
    const ConstantInterval hull = bits_hull(union_of(a, b));
    if (op == Intrinsic::bitwise_and && (is_non_negative(a) || is_non_negative(b))) {
        // No bit is set that the non-negative operand does not have.
        ConstantInterval r = ConstantInterval::at_least(0);
        for (const ConstantInterval &operand : {a, b}) {
            if (is_non_negative(operand) && operand.max) {
                r.max = r.max ? std::min(*r.max, *operand.max) : *operand.max;
            }
        }
        return r;
    }
    if (op == Intrinsic::bitwise_or && is_non_negative(a) && is_non_negative(b)) {
        return intersection(hull, ConstantInterval::at_least(std::max(*a.min, *b.min)));
    }
    return hull;
}

/// A shift by a number of bits in [0, bits of t): the powers of two that it multiplies by, else
/// missing.
ConstantInterval powers_of_two(const ConstantInterval &amount, Type t) {
    if (!amount.is_bounded() || *amount.min < 0 || *amount.max >= t.bits() || *amount.max > 62) {
        return ConstantInterval::everything();
    }
    return ConstantInterval::of(int64_t(1) << *amount.min, int64_t(1) << *amount.max);
}

}  // namespace

Bounded BoundsEngine::visit(const Call *op) {
    if (op->call_kind == CallKind::Intrinsic) {
        return intrinsic(op);
    }
    if (op->call_kind == CallKind::Func) {
        return func_call(op);
    }
    // Bounds are computed on the host, where a linkable's function may not be.
    const bool is_linked = op->symbol && op->symbol->kind == SymbolKind::Linkable;
    return !is_linked && op->is_pure() ? pure_call(op) : of_type(op->type);
}

Bounded BoundsEngine::func_call(const Call *op) {
    const auto known = funcs_.find({op->name, op->value_index});
    return known == funcs_.end() ? of_type(op->type)
                                 : of_interval(known->second, op->type.element_of());
}

Bounded BoundsEngine::pure_call(const Call *op) {
    const Type t = op->type.element_of();
    if (const_bound_) {
        return of_type(t);
    }
    std::vector<Expr> args;
    for (const Expr &arg : op->args) {
        if (!arg.defined()) {
            return of_type(t);
        }
        const Bounded b = bounds(arg);
        if (!b.is_point()) {
            return of_type(t);
        }
        args.push_back(b.ends.min);
    }
    const Expr call = op->is_intrinsic() ? Call::make(t, op->intrinsic, std::move(args))
                                         : Call::make(t, op->name, std::move(args), op->call_kind,
                                                      op->value_index, op->symbol);
    return of_point(call, of_type(t).range);
}

Bounded BoundsEngine::intrinsic(const Call *op) {
    Bounded result;
    if (!op->is_pure() || op->is_intrinsic(Intrinsic::undef) ||
        op->is_intrinsic(Intrinsic::signed_integer_overflow)) {
        return of_type(op->type);
    }
    if (choice_intrinsic(op, &result)) {
        return result;
    }
    if (const Expr expanded = expand_fixed_point(op); expanded.defined()) {
        return bounds(expanded);
    }
    const Bounded as_point = pure_call(op);
    if (!bit_intrinsic(op, &result) && !float_intrinsic(op, &result)) {
        return as_point;
    }
    return as_point.is_point() ? of_point(as_point.ends.min, result.range) : result;
}

/// Calls whose value is that of one of their arguments.
bool BoundsEngine::choice_intrinsic(const Call *op, Bounded *result) {
    const std::vector<Expr> &args = op->args;
    switch (op->intrinsic) {
    case Intrinsic::likely:
    case Intrinsic::likely_if_innermost:
    case Intrinsic::strict_float:
    case Intrinsic::memoize_expr:
        *result = bounds(args[0]);
        return true;
    case Intrinsic::require:
    case Intrinsic::return_second:
        *result = bounds(args[1]);
        return true;
    case Intrinsic::if_then_else:
        *result =
            args.size() < 3 ? under_condition(args[0], args[1]) : choice(args[0], args[1], args[2]);
        return true;
    case Intrinsic::mux: {
        *result = bounds(args[1]);
        for (size_t i = 2; i < args.size(); i++) {
            *result = make_union(*result, bounds(args[i]), op->type);
        }
        return true;
    }
    case Intrinsic::promise_clamped:
    case Intrinsic::unsafe_promise_clamped:
        *result = promise(op);
        return true;
    default:
        return false;
    }
}

/// Where only one value is possible, the compiler's own promises stay with it: variables that are
/// fixed here may be ranged over further out.
Bounded BoundsEngine::promised_point(const Call *op, const Bounded &value) {
    if (!op->is_intrinsic(Intrinsic::promise_clamped) || !op->args[1].defined() ||
        !op->args[2].defined()) {
        return value;
    }
    const Bounded low = bounds(op->args[1]), high = bounds(op->args[2]);
    if (is_const(value.ends.min) || !low.is_point() || !high.is_point()) {
        return value;
    }
    Bounded result = value;
    result.ends = Interval::single_point(Call::make(op->type, Intrinsic::promise_clamped,
                                                    {value.ends.min, low.ends.min, high.ends.min}));
    return result;
}

/// The value is promised to lie between the other arguments.
Bounded BoundsEngine::promise(const Call *op) {
    Bounded value = bounds(op->args[0]);
    if (value.is_point()) {
        return promised_point(op, value);
    }
    if (const Expr &low = op->args[1]; low.defined()) {
        const Bounded b = bounds(low);
        value.ends.min = ends::max_or_other(value.ends.min, b.ends.min);
        value.range = intersection(value.range, {b.range.min, std::nullopt});
    }
    if (const Expr &high = op->args[2]; high.defined()) {
        const Bounded b = bounds(high);
        value.ends.max = ends::min_or_other(value.ends.max, b.ends.max);
        value.range = intersection(value.range, {std::nullopt, b.range.max});
    }
    return value;
}

bool BoundsEngine::bit_intrinsic(const Call *op, Bounded *result) {
    const Type t = op->type.element_of();
    switch (op->intrinsic) {
    case Intrinsic::abs:
        *result = absolute(op);
        return true;
    case Intrinsic::absd:
        *result = absolute_difference(op);
        return true;
    case Intrinsic::shift_left:
        *result = shift(op, true);
        return true;
    case Intrinsic::shift_right:
        *result = shift(op, false);
        return true;
    case Intrinsic::bitwise_and:
    case Intrinsic::bitwise_or:
    case Intrinsic::bitwise_xor:
    case Intrinsic::bitwise_not:
        *result = bitwise(op);
        return true;
    case Intrinsic::popcount:
    case Intrinsic::count_leading_zeros:
    case Intrinsic::count_trailing_zeros:
        *result = of_range(ConstantInterval::of(0, op->args[0].type().bits()), t);
        return true;
    case Intrinsic::div_round_to_zero:
    case Intrinsic::mod_round_to_zero: {
        // No larger in magnitude than the dividend, and of its sign where the divisor is positive.
        if (!t.is_int_or_uint()) {
            return false;
        }
        const Bounded a = bounds(op->args[0]), b = bounds(op->args[1]);
        const bool remainder = op->is_intrinsic(Intrinsic::mod_round_to_zero);
        const ConstantInterval magnitude = internal::abs(a.range);
        ConstantInterval r = union_of(magnitude, ConstantInterval::single(0) - magnitude);
        r = union_of(r, ConstantInterval::single(0));
        if (is_non_negative(a.range) && (remainder || is_non_negative(b.range))) {
            r.min = 0;
        }
        *result = of_range(r, t);
        return true;
    }
    default:
        return false;
    }
}

Bounded BoundsEngine::absolute(const Call *op) {
    const Type t = op->type.element_of();
    const Bounded a = bounds(op->args[0]);
    if (t.is_float()) {
        const auto magnitude = [&](const Expr &e) {
            return e.defined() ? Call::make(t, Intrinsic::abs, {e}) : e;
        };
        return {Interval(make_zero(t), ends::max(magnitude(a.ends.min), magnitude(a.ends.max))),
                {}};
    }
    Bounded result = of_range(internal::abs(a.range), t);
    const auto magnitude = [&](const Expr &e) {
        return !e.defined() || is_const(e) ? Expr() : Call::make(t, Intrinsic::abs, {e});
    };
    if (const_bound_ || op->args[0].type().is_uint()) {
        return op->args[0].type().is_uint() ? a : result;
    }
    if (a.ends.is_bounded()) {
        Expr low = magnitude(a.ends.min), high = magnitude(a.ends.max);
        const auto constant = [&](const Expr &e) {
            const auto x = as_const_int(e);
            return x && *x != INT64_MIN ? make_const(t, uint64_t(std::abs(*x))) : Expr();
        };
        low = low.defined() ? low : constant(a.ends.min);
        high = high.defined() ? high : constant(a.ends.max);
        result.ends.max = ends::max(low, high);
    }
    return result;
}

Bounded BoundsEngine::absolute_difference(const Call *op) {
    const Type t = op->type.element_of();
    const Bounded a = bounds(op->args[0]), b = bounds(op->args[1]);
    if (!t.is_int_or_uint()) {
        return {Interval(make_zero(t), Expr()), {}};
    }
    return of_range(internal::abs(a.range - b.range), t);
}

Bounded BoundsEngine::shift(const Call *op, bool left) {
    const Type t = op->type.element_of();
    const Bounded a = bounds(op->args[0]), amount = bounds(op->args[1]);
    const ConstantInterval powers = powers_of_two(amount.range, t);
    if (!powers.is_bounded()) {
        return of_type(t);
    }
    if (left) {
        // The factor itself may not fit t, while the product does.
        const Interval factor = make_interval(powers, t);
        const Bounded b = {factor, powers};
        if (t.can_overflow() || !factor.is_bounded()) {
            return arithmetic(a.range * powers, Interval::everything(), t);
        }
        return mul(a, b, t);
    }
    const ConstantInterval range = a.range / powers;
    const Interval divisor = make_interval(powers, t);
    if (t.can_overflow() || !divisor.is_bounded()) {
        return of_range(range, t);
    }
    return {int_div(a, {divisor, powers}), fit(range, t)};
}

Bounded BoundsEngine::bitwise(const Call *op) {
    const Type t = op->type.element_of();
    const Bounded a = bounds(op->args[0]);
    if (!t.is_int_or_uint()) {
        return of_type(t);
    }
    if (op->is_intrinsic(Intrinsic::bitwise_not)) {
        // -1 - a for signed types, (2^bits - 1) - a for unsigned ones: neither ever overflows.
        if (t.is_uint() && t.bits() > 62) {
            return of_type(t);
        }
        const int64_t all_ones = t.is_uint() ? int64_t(t.umax()) : -1;
        const ConstantInterval ones = ConstantInterval::single(all_ones);
        return sub({Interval::single_point(make_const(t, all_ones)), ones}, a, t);
    }
    const Bounded b = bounds(op->args[1]);
    Bounded result = of_range(bitwise_range(op->intrinsic, a.range, b.range), t);
    if (op->is_intrinsic(Intrinsic::bitwise_and)) {
        Expr high = is_non_negative(a.range) ? a.ends.max : Expr();
        if (is_non_negative(b.range)) {
            high = ends::min_or_other(high, b.ends.max);
        }
        result.ends.max = high;
    }
    return result;
}

bool BoundsEngine::float_intrinsic(const Call *op, Bounded *result) {
    const Type t = op->type.element_of();
    const auto constants = [&](double low, double high) {
        *result = {Interval(make_const(t, low), make_const(t, high)), {}};
        return true;
    };
    switch (op->intrinsic) {
    case Intrinsic::sqrt:
    case Intrinsic::floor:
    case Intrinsic::ceil:
    case Intrinsic::round:
    case Intrinsic::trunc:
        *result = rounding(op);
        return true;
    case Intrinsic::sin:
    case Intrinsic::cos:
    case Intrinsic::tanh:
    case Intrinsic::erf:
        return constants(-1, 1);
    case Intrinsic::atan:
    case Intrinsic::asin:
        return constants(-1.5708, 1.5708);
    case Intrinsic::acos:
        return constants(0, 3.1416);
    case Intrinsic::exp:
    case Intrinsic::acosh:
        *result = {Interval(make_zero(t), Expr()), {}};
        return true;
    case Intrinsic::strict_add:
        *result = add(bounds(op->args[0]), bounds(op->args[1]), t);
        return true;
    case Intrinsic::strict_sub:
        *result = sub(bounds(op->args[0]), bounds(op->args[1]), t);
        return true;
    case Intrinsic::strict_mul:
        *result = mul(bounds(op->args[0]), bounds(op->args[1]), t);
        return true;
    default:
        return false;
    }
}

/// Functions that are exactly rounded and grow with their argument.
Bounded BoundsEngine::rounding(const Call *op) {
    const Type t = op->type.element_of();
    const Bounded a = bounds(op->args[0]);
    const bool root = op->is_intrinsic(Intrinsic::sqrt);
    const auto apply = [&](const Expr &e) {
        return e.defined() ? Call::make(t, op->intrinsic, {e}) : e;
    };
    return {Interval(root ? make_zero(t) : apply(a.ends.min), apply(a.ends.max)), {}};
}

}  // namespace calotype::internal
