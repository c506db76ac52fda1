// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls: intrinsics on constants, and those whose arguments decide them.
#include <cmath>

#include "arith/simplify/fold.h"
#include "arith/simplify/simplifier.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/queries.h"

namespace calotype::internal {

namespace {

using Wide = __int128;

int shift_count(Wide by) {
    return by > 200 ? 200 : by < -200 ? -200 : int(by);
}

// A shift by a negative count goes the other way; shifting everything out leaves zero or the sign.
Wide shifted(Wide x, int left) {
    if (left >= 0) {
        return left >= 64 ? 0 : Wide(static_cast<unsigned __int128>(x) << left);
    }
    return x >> (left < -127 ? 127 : -left);
}

Expr fold_unary(const Call *op, Wide x) {
    const Type t = op->type, from = op->args[0].type();
    const uint64_t bits =
        uint64_t(x) & (from.bits() >= 64 ? ~uint64_t(0) : (uint64_t(1) << from.bits()) - 1);
    switch (op->intrinsic) {
    case Intrinsic::abs:
        return make_wrapped_const(t, x < 0 ? -x : x);
    case Intrinsic::bitwise_not:
        return make_wrapped_const(t, ~x);
    case Intrinsic::popcount:
        return make_wrapped_const(t, __builtin_popcountll(bits));
    case Intrinsic::count_leading_zeros:
        return bits ? make_wrapped_const(t, __builtin_clzll(bits) - (64 - from.bits())) : Expr();
    case Intrinsic::count_trailing_zeros:
        return bits ? make_wrapped_const(t, __builtin_ctzll(bits)) : Expr();
    default:
        return Expr();
    }
}

Expr fold_integer_pair(const Call *op, Wide x, Wide y) {
    const Type t = op->type;
    switch (op->intrinsic) {
    case Intrinsic::bitwise_and:
        return make_wrapped_const(t, x & y);
    case Intrinsic::bitwise_or:
        return make_wrapped_const(t, x | y);
    case Intrinsic::bitwise_xor:
        return make_wrapped_const(t, x ^ y);
    case Intrinsic::shift_left:
    case Intrinsic::shift_right: {
        const int count = shift_count(y);
        return std::abs(count) < t.bits()
                   ? make_wrapped_const(
                         t, shifted(x, op->intrinsic == Intrinsic::shift_left ? count : -count))
                   : Expr();
    }
    case Intrinsic::absd:
        return make_wrapped_const(t, x < y ? y - x : x - y);
    default:
        return Expr();
    }
}

Expr fold_float_unary(const Call *op, double x) {
    switch (op->intrinsic) {
    case Intrinsic::floor:
        return make_const(op->type, std::floor(x));
    case Intrinsic::ceil:
        return make_const(op->type, std::ceil(x));
    case Intrinsic::trunc:
        return make_const(op->type, std::trunc(x));
    case Intrinsic::round:
        return make_const(op->type, std::nearbyint(x));
    case Intrinsic::abs:
        return make_const(op->type, std::fabs(x));
    case Intrinsic::sqrt:
        return x >= 0 ? make_const(op->type, std::sqrt(x)) : Expr();
    case Intrinsic::is_nan:
        return make_const(op->type, std::isnan(x) ? 1 : 0);
    case Intrinsic::is_inf:
        return make_const(op->type, std::isinf(x) ? 1 : 0);
    case Intrinsic::is_finite:
        return make_const(op->type, std::isfinite(x) ? 1 : 0);
    default:
        return Expr();
    }
}

}  // namespace

// x << n is x * 2^n, x >> n is x / 2^n: rules and ranges know these. The back ends make shifts of
// them again. Only where 2^n is a number of the type.
Expr Simplifier::shift_as_arithmetic(const Call *op, const std::vector<Expr> &args) {
    const Type t = op->type;
    const auto by = as_const_int(args[1]);
    const int most = t.is_uint() ? t.bits() - 1 : t.bits() - 2;
    if (!by || std::abs(*by) > std::min(most, 62) || args[0].type() != t) {
        return Expr();
    }
    const bool left = (*by > 0) == op->is_intrinsic(Intrinsic::shift_left);
    const Expr power = make_const(t, int64_t(1) << std::abs(*by));
    return binary(left ? NodeKind::Mul : NodeKind::Div, args[0], power);
}

// x & (2^n - 1) is x % 2^n.
Expr Simplifier::mask_as_remainder(const Expr &x, const Expr &mask) {
    const Type t = x.type();
    const auto low = as_const_int(mask);
    if (!low || *low <= 0 || *low >= INT64_MAX / 2 || (*low & (*low + 1)) != 0 ||
        !t.can_represent(*low + 1)) {
        return Expr();
    }
    return binary(NodeKind::Mod, x, make_const(t, *low + 1));
}

// Arguments are simplified.
Expr Simplifier::fold_call(const Call *op, const std::vector<Expr> &args) {
    Wide x, y;
    if (args.size() == 1 && integer_value(args[0], &x)) {
        if (Expr folded = fold_unary(op, x); folded.defined()) {
            return folded;
        }
    }
    if (args.size() == 1 && args[0].type().is_float()) {
        if (const auto number = number_of(args[0].get())) {
            return fold_float_unary(op, number->f);
        }
    }
    if (args.size() == 2 && integer_value(args[0], &x) && integer_value(args[1], &y)) {
        return fold_integer_pair(op, x, y);
    }
    switch (op->intrinsic) {
    case Intrinsic::likely:
    case Intrinsic::likely_if_innermost:
        return is_const(args[0]) || (args[0].as<Call>() && args[0].as<Call>()->is_likely())
                   ? args[0]
                   : Expr();
    case Intrinsic::if_then_else:
        if (is_const_one(args[0])) {
            return args[1];
        }
        return is_const_zero(args[0]) && args.size() == 3 ? args[2] : Expr();
    case Intrinsic::pow:  // by an exponent that a specialization says
        if (is_const(args[1], 2) && is_pure(args[0])) {
            return binary(NodeKind::Mul, args[0], args[0]);
        }
        return is_const_one(args[1]) ? args[0] : Expr();
    case Intrinsic::lerp:  // between a value and itself
        return (finite_floats_ || !op->type.is_float()) && equal(args[0], args[1]) ? args[0]
                                                                                   : Expr();
    case Intrinsic::abs: {
        const ConstRange known = range(args[0]);
        const bool positive = args[0].type().is_uint() || (known.min && *known.min >= 0);
        return positive && !op->type.is_float() ? cast(op->type, args[0]) : Expr();
    }
    case Intrinsic::bitwise_and:
    case Intrinsic::bitwise_or:
        if (const IntegerInfo all = info_of_operation(Call::make(op->type, op->intrinsic, args),
                                                      [this](const Expr &e) { return info(e); });
            all.range.is_single()) {
            return make_const(op->type, *all.range.min);
        }
        if (equal(args[0], args[1])) {
            return args[0];
        }
        if (is_const_zero(args[1])) {
            return op->is_intrinsic(Intrinsic::bitwise_and) ? args[1] : args[0];
        }
        return op->is_intrinsic(Intrinsic::bitwise_and) ? mask_as_remainder(args[0], args[1])
                                                        : Expr();
    case Intrinsic::bitwise_xor:
        if (equal(args[0], args[1])) {
            return make_zero(op->type);
        }
        return is_const_zero(args[1]) ? args[0] : Expr();
    case Intrinsic::shift_left:
    case Intrinsic::shift_right:
        return is_const_zero(args[1]) || is_const_zero(args[0]) ? args[0]
                                                                : shift_as_arithmetic(op, args);
    case Intrinsic::promise_clamped:
    case Intrinsic::unsafe_promise_clamped:
        if (args[0].type().is_int_or_uint() && always_less_equal(range(args[1]), range(args[0])) &&
            always_less_equal(range(args[0]), range(args[2]))) {
            return args[0];
        }
        return is_const(args[0]) ? args[0] : Expr();
    default:
        return Expr();
    }
}

Expr Simplifier::visit(const Call *op) {
    // Only the branch that is taken is looked at.
    if (op->is_intrinsic(Intrinsic::if_then_else)) {
        const Expr condition = mutate(op->args[0]);
        if (is_const_one(condition)) {
            return mutate(op->args[1]);
        }
        if (is_const_zero(condition) && op->args.size() == 3) {
            return mutate(op->args[2]);
        }
    }
    std::vector<Expr> args;
    args.reserve(op->args.size());
    bool changed = false;
    for (const Expr &arg : op->args) {
        args.push_back(mutate(arg));
        changed = changed || !args.back().same_as(arg);
    }
    if (op->call_type == CallKind::Intrinsic) {
        if (Expr folded = fold_call(op, args); folded.defined() && folded.type() == op->type) {
            return folded;
        }
    }
    if (!changed) {
        return op;
    }
    return op->call_type == CallKind::Intrinsic
               ? Call::make(op->type, op->intrinsic, args)
               : Call::make(op->type, op->name, args, op->call_type, op->value_index, op->symbol);
}

}  // namespace calotype::internal
