// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bounds of calls: Funcs, images, intrinsics.
#include <algorithm>

#include "arith/bounds/bounds_engine.h"
#include "arith/bounds/ends.h"
#include "arith/exact_types.h"
#include "arith/fixed_point.h"
#include "arith/integer_info.h"
#include "arith/simplify.h"
#include "ir/constants.h"

namespace calotype::internal {

Bounded BoundsEngine::visit(const Call *op) {
    if (op->call_type == CallKind::Intrinsic) {
        return intrinsic(op);
    }
    if (op->call_type == CallKind::Func) {
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
                                         : Call::make(t, op->name, std::move(args), op->call_type,
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
    case Intrinsic::stream_load:
    case Intrinsic::stream_store:
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
        *result = t.is_int_or_uint() ? of_range(range_of_call(op), t)
                                     : Bounded{Interval(make_zero(t), Expr()), {}};
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
    case Intrinsic::saturating_cast: {
        // Of floats. The limits of wider types are no floats.
        const Type from = op->args[0].type();
        if (!from.is_float() || !t.is_int_or_uint() || t.bits() > 16) {
            return false;
        }
        const auto limit = [&](double value) {
            return make_const(from, value);
        };
        const double least = t.is_int() ? double(t.imin()) : 0;
        const double most = t.is_int() ? double(t.imax()) : double(t.umax());
        *result = bounds(
            Cast::make(op->type, Min::make(Max::make(op->args[0], limit(least)), limit(most))));
        return true;
    }
    case Intrinsic::popcount:
    case Intrinsic::count_leading_zeros:
    case Intrinsic::count_trailing_zeros:
    case Intrinsic::div_round_to_zero:
    case Intrinsic::mod_round_to_zero:
        if (!t.is_int_or_uint()) {
            return false;
        }
        *result = of_range(range_of_call(op), t);
        return true;
    default:
        return false;
    }
}

namespace {

/// The end next to zero of the magnitude of what lies in `a`; of type `t`.
Expr smallest_magnitude(const Interval &a, Type t) {
    const Expr nearest = ends::max_or_other(a.min, ends::neg(a.max));
    return nearest.defined() ? ends::cast(t, ends::max(nearest, make_zero(nearest.type())))
                             : make_zero(t);
}

}  // namespace

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
    Bounded result = of_range(range_of_call(op), t);
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
    if (!a.ends.is_everything() && !(is_const(a.ends.min) && is_const(a.ends.max))) {
        result.ends.min = smallest_magnitude(a.ends, t);
    }
    return result;
}

/// As the product or quotient by the powers of two that the amount stands for.
Bounded BoundsEngine::shift(const Call *op, bool left) {
    const Type t = op->type.element_of();
    const Bounded a = bounds(op->args[0]);
    const ConstantInterval amount = bounds(op->args[1]).range, range = range_of_call(op);
    if (!amount.is_bounded() || *amount.min < 0 || *amount.max >= std::min(t.bits(), 63)) {
        return of_type(t);
    }
    const auto powers = ConstantInterval::of(int64_t(1) << *amount.min, int64_t(1) << *amount.max);
    const Bounded factor = {make_interval(powers, t), powers};
    if (t.can_overflow() || !factor.ends.is_bounded()) {
        return of_range(range, t);
    }
    return left ? mul(a, factor, t) : Bounded{int_div(a, factor), fit(range, t)};
}

Bounded BoundsEngine::bitwise(const Call *op) {
    const Type t = op->type.element_of();
    if (!t.is_int_or_uint()) {
        return of_type(t);
    }
    const Bounded a = bounds(op->args[0]);
    Bounded result = of_range(range_of_call(op), t);
    if (op->is_intrinsic(Intrinsic::bitwise_not) && is_exact_int(t)) {
        return sub({Interval::single_point(make_const(t, -1)), ConstantInterval::single(-1)}, a, t);
    }
    if (op->is_intrinsic(Intrinsic::bitwise_and)) {
        const Bounded b = bounds(op->args[1]);
        Expr high = is_non_negative(a.range) ? a.ends.max : Expr();
        if (is_non_negative(b.range)) {
            high = ends::min_or_other(high, b.ends.max);
        }
        result.ends.max = high;
    }
    return result;
}

/// The constant range of an intrinsic of integers.
ConstantInterval BoundsEngine::range_of_call(const Call *op) {
    return info_of_operation(op,
                             [this](const Expr &arg) {
                                 return IntegerInfo{bounds(arg).range, {}};
                             })
        .range;
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
        const Expr result = e.defined() ? Call::make(t, op->intrinsic, {e}) : e;
        return e.defined() && is_const(e) ? simplify(result) : result;
    };
    return {Interval(root ? make_zero(t) : apply(a.ends.min), apply(a.ends.max)), {}};
}

}  // namespace calotype::internal
