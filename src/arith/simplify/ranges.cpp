// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bounds and alignment of expressions, from the leaves up, under the facts in force; and the
// decisions of comparisons, min, max, / and % that follow from them.

#include "arith/simplify/const_range.h"
#include "arith/simplify/fold.h"
#include "arith/simplify/simplifier.h"
#include "ir/constants.h"

namespace calotype::internal {

namespace {

// What remains true of an alignment when the value may have wrapped in type t.
Alignment wrapped(const Alignment &a, Type t) {
    if (t.bits() >= 63) {
        // Only factors of two survive; 2^32 is enough of them.
        const int64_t m = greatest_common_divisor(a.modulus, int64_t(1) << 32);
        return a.modulus == 0 ? a : Alignment{m, euclidean_mod(a.remainder, m)};
    }
    const int64_t m = greatest_common_divisor(a.modulus, int64_t(1) << t.bits());
    return Alignment{m, euclidean_mod(a.remainder, m)};
}

// The info of a result in type t whose exact value is described by r and a.
IntegerInfo fitted(const ConstRange &r, const Alignment &a, Type t) {
    IntegerInfo info;
    info.range = fit_type(r, t);
    // Without an upper end, unsigned 64 bits may have wrapped.
    const bool told = t.bits() < 64 || r.max;
    const bool exact_value = !t.can_overflow() || (told && ConstRange::of_type(t).contains(r));
    info.alignment = exact_value ? a : wrapped(a, t);
    if (info.range.is_single()) {
        info.alignment = {0, *info.range.min};
    }
    return info;
}

IntegerInfo info_of_constant(__int128 value) {
    if (value > INT64_MAX) {
        return {ConstRange::at_least(INT64_MAX), {}};
    }
    return {ConstRange::single(int64_t(value)), {0, int64_t(value)}};
}

Alignment alignment_of_quotient(const Alignment &a, const ConstRange &divisor) {
    if (!divisor.is_single() || *divisor.min <= 0) {
        return {};
    }
    const int64_t d = *divisor.min;
    if (a.modulus != 0 && a.modulus % d == 0) {
        return {a.modulus / d, euclidean_mod(euclidean_div(a.remainder, d), a.modulus / d)};
    }
    return a.modulus == 0 ? Alignment{0, euclidean_div(a.remainder, d)} : Alignment{};
}

Alignment alignment_of_remainder(const Alignment &a, const ConstRange &divisor) {
    if (!divisor.is_single() || *divisor.min == 0) {
        return {};
    }
    // x % d differs from x by a multiple of d.
    const int64_t m = greatest_common_divisor(a.modulus, *divisor.min);
    return {m, euclidean_mod(a.remainder, m)};
}

}  // namespace

IntegerInfo Simplifier::info(const Expr &e) {
    const Type t = e.type();
    if (!t.is_int_or_uint()) {
        return {};
    }
    __int128 value;
    if (integer_value(e, &value)) {
        return info_of_constant(value);
    }
    if (const IntegerInfo *known = facts_.find_info(e.get())) {
        return *known;
    }
    IntegerInfo result = compute_info(e);
    result.range = intersection(result.range, ConstRange::of_type(t));
    facts_.remember_info(e.get(), result);
    return result;
}

namespace {

IntegerInfo combine(NodeKind kind, const IntegerInfo &a, const IntegerInfo &b, Type t) {
    switch (kind) {
    case NodeKind::Add:
        return fitted(a.range + b.range, a.alignment + b.alignment, t);
    case NodeKind::Sub:
        return fitted(a.range - b.range, a.alignment - b.alignment, t);
    case NodeKind::Mul:
        return fitted(a.range * b.range, a.alignment * b.alignment, t);
    case NodeKind::Div:
        return fitted(a.range / b.range, alignment_of_quotient(a.alignment, b.range), t);
    case NodeKind::Mod:
        return fitted(a.range % b.range, alignment_of_remainder(a.alignment, b.range), t);
    case NodeKind::Min:
        return fitted(min(a.range, b.range), union_of(a.alignment, b.alignment), t);
    default:
        return fitted(max(a.range, b.range), union_of(a.alignment, b.alignment), t);
    }
}

bool is_int_like(Type t) {
    return t.is_int_or_uint();
}

}  // namespace

IntegerInfo Simplifier::compute_info(const Expr &e) {
    const Type t = e.type();
    const IntegerInfo anything{ConstRange::of_type(t), {}};
    switch (e.kind()) {
#define ARITH(Name, symbol)                                                                        \
    case NodeKind::Name: {                                                                         \
        const auto *op = e.as<Name>();                                                             \
        return combine(NodeKind::Name, info(op->a), info(op->b), t);                               \
    }
#include "ir/nodes.def"
    case NodeKind::Variable: {
        const IntegerInfo *known = facts_.info_of(e.as<Variable>()->name);
        return known ? *known : anything;
    }
    case NodeKind::Broadcast:
        return info(e.as<Broadcast>()->value);
    case NodeKind::Cast: {
        const Expr &value = e.as<Cast>()->value;
        if (!is_int_like(value.type()) || t.is_bool()) {
            return anything;
        }
        const IntegerInfo inner = info(value);
        // Narrowing to int32 wraps too: a cast keeps the low bits.
        if (ConstRange::of_type(t).contains(inner.range)) {
            return inner;
        }
        return {ConstRange::of_type(t), wrapped(inner.alignment, t)};
    }
    case NodeKind::Select: {
        const auto *op = e.as<Select>();
        const IntegerInfo a = info(op->true_value), b = info(op->false_value);
        return {union_of(a.range, b.range), union_of(a.alignment, b.alignment)};
    }
    case NodeKind::Ramp: {
        const auto *op = e.as<Ramp>();
        const IntegerInfo base = info(op->base), stride = info(op->stride);
        const IntegerInfo lane{ConstRange::of(0, op->lanes - 1), {}};
        return fitted(base.range + stride.range * lane.range,
                      base.alignment + stride.alignment * lane.alignment, t);
    }
    case NodeKind::Shuffle: {
        const auto *op = e.as<Shuffle>();
        IntegerInfo all = info(op->vectors[0]);
        for (const Expr &v : op->vectors) {
            const IntegerInfo i = info(v);
            all = {union_of(all.range, i.range), union_of(all.alignment, i.alignment)};
        }
        return all;
    }
    case NodeKind::VectorReduce: {
        const auto *op = e.as<VectorReduce>();
        if (op->op == VectorReduce::Min || op->op == VectorReduce::Max) {
            return info(op->value);
        }
        if (op->op == VectorReduce::Add && !t.is_bool()) {
            const IntegerInfo i = info(op->value);
            const int factor = op->value.type().lanes() / t.lanes();
            return fitted(i.range * ConstRange::single(factor), i.alignment * Alignment{}, t);
        }
        return anything;
    }
    case NodeKind::Call:
        return info_of_call(e.as<Call>());
    default:
        return anything;
    }
}

IntegerInfo Simplifier::info_of_call(const Call *op) {
    const Type t = op->type;
    const IntegerInfo anything{ConstRange::of_type(t), {}};
    switch (op->intrinsic) {
    case Intrinsic::likely:
    case Intrinsic::likely_if_innermost:
    case Intrinsic::strict_float:
        return info(op->args[0]);
    case Intrinsic::return_second:
        return info(op->args[1]);
    case Intrinsic::promise_clamped:
    case Intrinsic::unsafe_promise_clamped: {
        const IntegerInfo value = info(op->args[0]);
        const ConstRange lo = range(op->args[1]), hi = range(op->args[2]);
        const ConstRange clamped = intersection(value.range, {lo.min, hi.max});
        return clamped.is_empty() ? value : IntegerInfo{clamped, value.alignment};
    }
    case Intrinsic::bitwise_and: {
        const ConstRange a = range(op->args[0]), b = range(op->args[1]);
        const bool bounded_a = a.min && *a.min >= 0, bounded_b = b.min && *b.min >= 0;
        ConstRange r = bounded_a || bounded_b ? ConstRange::at_least(0) : ConstRange::everything();
        if (bounded_a) {
            r = intersection(r, {std::nullopt, a.max});
        }
        if (bounded_b) {
            r = intersection(r, {std::nullopt, b.max});
        }
        return {r, {}};
    }
    case Intrinsic::shift_right: {
        const ConstRange a = range(op->args[0]), by = range(op->args[1]);
        if (a.is_bounded() && by.is_single() && *by.min >= 0 && *by.min < t.bits()) {
            return {ConstRange::of(*a.min >> *by.min, *a.max >> *by.min), {}};
        }
        return anything;
    }
    case Intrinsic::absd:
    case Intrinsic::abs: {
        if (op->intrinsic == Intrinsic::absd || !op->args[0].type().is_int()) {
            return anything;
        }
        const ConstRange a = range(op->args[0]);
        const ConstRange size = max(a, ConstRange::single(0) - a);
        const ConstRange r = intersection(size, ConstRange::at_least(0));
        return {r.is_empty() ? ConstRange::of_type(t) : r, {}};
    }
    case Intrinsic::count_leading_zeros:
    case Intrinsic::count_trailing_zeros:
    case Intrinsic::popcount:
        return {ConstRange::of(0, t.bits()), {}};
    default:
        return anything;
    }
}

Expr Simplifier::less_by_ranges(const Expr &a, const Expr &b) {
    if (!a.type().is_int_or_uint()) {
        return Expr();
    }
    const ConstRange x = range(a), y = range(b);
    if (always_less(x, y)) {
        return const_true(a.type().lanes());
    }
    return always_less_equal(y, x) ? const_false(a.type().lanes()) : Expr();
}

Expr Simplifier::equal_by_ranges(const Expr &a, const Expr &b) {
    if (!a.type().is_int_or_uint() || a.type().is_bool()) {
        return Expr();
    }
    const IntegerInfo x = info(a), y = info(b);
    if (always_less(x.range, y.range) || always_less(y.range, x.range)) {
        return const_false(a.type().lanes());
    }
    // x - y would have to be a multiple of the common modulus.
    const Alignment difference = x.alignment - y.alignment;
    if (difference.modulus > 1 && difference.remainder != 0) {
        return const_false(a.type().lanes());
    }
    return Expr();
}

namespace {

// The operands of nested minima (maxima).
template<typename T>
void flatten_extremum(const Expr &e, std::vector<Expr> *operands) {
    if (const auto *op = e.as<T>()) {
        flatten_extremum<T>(op->a, operands);
        flatten_extremum<T>(op->b, operands);
    } else {
        operands->push_back(e);
    }
}

std::vector<Expr> operands_of(NodeKind op, const Expr &e) {
    std::vector<Expr> operands;
    if (op == NodeKind::Min) {
        flatten_extremum<Min>(e, &operands);
    } else {
        flatten_extremum<Max>(e, &operands);
    }
    return operands;
}

}  // namespace

// min(min(x, y), z) where z is a constant away from x, once lets are looked into: one of the two
// goes.
Expr Simplifier::drop_dominated(NodeKind op, const Expr &a, const Expr &b) {
    constexpr size_t max_pairs = 64;
    std::vector<Expr> x = operands_of(op, a), y = operands_of(op, b);
    if (x.size() * y.size() > max_pairs) {
        return Expr();
    }
    for (size_t i = 0; i < x.size(); i++) {
        for (size_t j = 0; j < y.size(); j++) {
            const auto difference = difference_by_lets(x[i], y[j]);
            if (!difference) {
                continue;
            }
            const bool keep_x = (*difference <= 0) == (op == NodeKind::Min);
            if (keep_x) {
                y.erase(y.begin() + long(j));
            } else {
                x.erase(x.begin() + long(i));
            }
            x.insert(x.end(), y.begin(), y.end());
            Expr result = x[0];
            for (size_t k = 1; k < x.size(); k++) {
                result = binary(op, result, x[k]);
            }
            return result;
        }
    }
    return Expr();
}

Expr Simplifier::extremum_by_ranges(NodeKind op, const Expr &a, const Expr &b) {
    if (!a.type().is_int_or_uint()) {
        return Expr();
    }
    const ConstRange x = range(a), y = range(b);
    bool a_is_less = always_less_equal(x, y), b_is_less = always_less_equal(y, x);
    if (!a_is_less && !b_is_less && facts_.has_truths()) {
        const int less = facts_.truth_of(LT::make(a, b)), greater = facts_.truth_of(LT::make(b, a));
        a_is_less = less == 1 || greater == 0;
        b_is_less = greater == 1 || less == 0;
    }
    if (!a_is_less && !b_is_less) {
        const auto difference = difference_by_lets(a, b);
        a_is_less = difference && *difference <= 0;
        b_is_less = difference && *difference > 0;
    }
    if (a_is_less) {
        return op == NodeKind::Min ? a : b;
    }
    if (b_is_less) {
        return op == NodeKind::Min ? b : a;
    }
    return a.kind() == op || b.kind() == op ? drop_dominated(op, a, b) : Expr();
}

Expr Simplifier::div_by_ranges(const Expr &a, const Expr &b) {
    const Type t = a.type();
    if (!t.is_int_or_uint()) {
        return Expr();
    }
    const ConstRange x = range(a), y = range(b);
    const ConstRange quotient = x / y;
    if (quotient.is_single() && ConstRange::of_type(t).contains(quotient)) {
        return make_const(t, *quotient.min);
    }
    return Expr();
}

Expr Simplifier::mod_by_ranges(const Expr &a, const Expr &b) {
    const Type t = a.type();
    if (!t.is_int_or_uint()) {
        return Expr();
    }
    const IntegerInfo x = info(a);
    const ConstRange y = range(b);
    if (x.range.min && *x.range.min >= 0 && always_less(x.range, y)) {
        return a;
    }
    if (y.is_single() && *y.min != 0 && x.alignment.modulus % *y.min == 0) {
        return make_const(t, euclidean_mod(x.alignment.remainder, *y.min));
    }
    return Expr();
}

}  // namespace calotype::internal
