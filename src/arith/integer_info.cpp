// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arith/integer_info.h"

#include <algorithm>

#include "arith/difference_range.h"
#include "arith/known_bits.h"
#include "ir/constants.h"
#include "ir/expr_nodes.h"
#include "support/stack_guard.h"

namespace calotype::internal {

namespace {

/// What remains true of an alignment where the value may have wrapped in type t.
Alignment wrapped(const Alignment &a, Type t) {
    if (t.bits() >= 63) {
        // Only factors of two survive; 2^32 is enough of them.
        const int64_t m = greatest_common_divisor(a.modulus, int64_t(1) << 32);
        return a.modulus == 0 ? a : Alignment{m, euclidean_mod(a.remainder, m)};
    }
    const int64_t m = greatest_common_divisor(a.modulus, int64_t(1) << t.bits());
    return Alignment{m, euclidean_mod(a.remainder, m)};
}

/// The info of a result in type t whose exact value is described by r and a.
IntegerInfo fitted(const ConstRange &r, const Alignment &a, Type t) {
    IntegerInfo info;
    info.range = fit_type(r, t);
    // Without an upper end, unsigned 64 bits may have wrapped.
    const bool is_known = t.bits() < 64 || r.max;
    const bool is_exact = !t.can_overflow() || (is_known && ConstRange::of_type(t).contains(r));
    info.alignment = is_exact ? a : wrapped(a, t);
    if (info.range.is_single()) {
        info.alignment = {0, *info.range.min};
    }
    return info;
}

/// Of a sum, difference or product, which may be outside a type that does not wrap.
IntegerInfo of_sum(const ConstRange &r, const Alignment &a, Type t) {
    return t.can_overflow() ? fitted(r, a, t)
                            : IntegerInfo{r, r.is_single() ? Alignment{0, *r.min} : a};
}

IntegerInfo anything(Type t) {
    return {ConstRange::of_type(t), {}};
}

IntegerInfo either(const IntegerInfo &a, const IntegerInfo &b) {
    return {union_of(a.range, b.range), union_of(a.alignment, b.alignment)};
}

IntegerInfo of_constant(uint64_t value) {
    if (value > uint64_t(INT64_MAX)) {
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

IntegerInfo remainder(const IntegerInfo &a, const IntegerInfo &b, Type t) {
    const ConstRange range = a.range % b.range;
    if (!b.range.is_single() || *b.range.min == 0) {
        return fitted(range, {}, t);
    }
    // a % d differs from a by a multiple of d.
    const int64_t d = *b.range.min;
    const int64_t m = greatest_common_divisor(a.alignment.modulus, d);
    const int64_t r = euclidean_mod(a.alignment.remainder, m);
    const bool is_constant = d > 0 && m == d;
    return fitted(is_constant ? ConstRange::single(r) : range, {m, r}, t);
}

IntegerInfo arithmetic(NodeKind kind, const IntegerInfo &a, const IntegerInfo &b, Type t) {
    switch (kind) {
    case NodeKind::Add:
        return of_sum(a.range + b.range, a.alignment + b.alignment, t);
    case NodeKind::Sub:
        return of_sum(a.range - b.range, a.alignment - b.alignment, t);
    case NodeKind::Mul:
        return of_sum(a.range * b.range, a.alignment * b.alignment, t);
    case NodeKind::Div:
        return fitted(a.range / b.range, alignment_of_quotient(a.alignment, b.range), t);
    case NodeKind::Mod:
        return remainder(a, b, t);
    case NodeKind::Min:
        return fitted(min(a.range, b.range), union_of(a.alignment, b.alignment), t);
    default:
        return fitted(max(a.range, b.range), union_of(a.alignment, b.alignment), t);
    }
}

IntegerInfo of_cast(const Cast *op, const InfoOf &of) {
    const Type t = op->type;
    if (!op->value.type().is_int_or_uint() || t.is_bool()) {
        return anything(t);
    }
    const IntegerInfo inner = of(op->value);
    // Narrowing to int32 wraps too: a cast keeps the low bits.
    return ConstRange::of_type(t).contains(inner.range)
               ? inner
               : IntegerInfo{ConstRange::of_type(t), wrapped(inner.alignment, t)};
}

IntegerInfo of_reduction(const VectorReduce *op, const InfoOf &of) {
    if (op->op == VectorReduce::Min || op->op == VectorReduce::Max) {
        return of(op->value);
    }
    if (op->op == VectorReduce::Add && !op->type.is_bool()) {
        const IntegerInfo i = of(op->value);
        const int factor = op->value.type().lanes() / op->type.lanes();
        return fitted(i.range * ConstRange::single(factor), i.alignment * Alignment{}, op->type);
    }
    return anything(op->type);
}

/// [-2^k, 2^k - 1], or [0, 2^k - 1] if r has no negative value, with the smallest such k that
/// contains r.
ConstRange bits_hull(const ConstRange &r) {
    if (!r.is_bounded()) {
        return is_non_negative(r) ? ConstRange::at_least(0) : ConstRange::everything();
    }
    int k = 0;
    while (k < 62 && (*r.max > (int64_t(1) << k) - 1 || *r.min < -(int64_t(1) << k))) {
        k++;
    }
    const ConstRange hull =
        ConstRange::of(is_non_negative(r) ? 0 : -(int64_t(1) << k), (int64_t(1) << k) - 1);
    return hull.contains(r) ? hull : ConstRange::everything();
}

ConstRange of_bitwise(Intrinsic op, const ConstRange &a, const ConstRange &b) {
    const ConstRange hull = bits_hull(union_of(a, b));
    if (op == Intrinsic::bitwise_and && (is_non_negative(a) || is_non_negative(b))) {
        // No bit is set that the non-negative operand does not have.
        ConstRange r = ConstRange::at_least(0);
        for (const ConstRange &operand : {a, b}) {
            if (is_non_negative(operand) && operand.max) {
                r.max = r.max ? std::min(*r.max, *operand.max) : *operand.max;
            }
        }
        return r;
    }
    if (op == Intrinsic::bitwise_or && is_non_negative(a) && is_non_negative(b)) {
        return intersection(hull, ConstRange::at_least(std::max(*a.min, *b.min)));
    }
    return hull;
}

/// By ranges, and by the bits that are known.
IntegerInfo of_bitwise(Intrinsic op, const IntegerInfo &a, const IntegerInfo &b, Type t) {
    IntegerInfo info = info_of_bits(combine(op, known_bits(a, t), known_bits(b, t)), t);
    info.range = within(info.range, fit_type(of_bitwise(op, a.range, b.range), t));
    return info;
}

/// ~x is -1 - x for signed types, (2^bits - 1) - x for unsigned ones.
IntegerInfo of_bitwise_not(const IntegerInfo &a, Type t) {
    if (t.is_uint() && t.bits() > 62) {
        return anything(t);
    }
    const int64_t ones = t.is_uint() ? int64_t(t.umax()) : -1;
    return fitted(ConstRange::single(ones) - a.range, Alignment{0, ones} - a.alignment, t);
}

IntegerInfo of_shift(const IntegerInfo &a, const ConstRange &amount, bool left, Type t) {
    if (!amount.is_bounded() || *amount.min < 0 || *amount.max >= t.bits() || *amount.max > 62) {
        return anything(t);
    }
    const int64_t least = int64_t(1) << *amount.min, most = int64_t(1) << *amount.max;
    return arithmetic(
        left ? NodeKind::Mul : NodeKind::Div, a,
        {ConstRange::of(least, most), least == most ? Alignment{0, least} : Alignment{least, 0}},
        t);
}

/// Of division towards zero and its remainder: no larger in magnitude than the dividend, and of its
/// sign where the divisor is positive.
ConstRange of_truncated(const ConstRange &a, const ConstRange &b, bool is_remainder) {
    const ConstRange magnitude = abs(a);
    ConstRange r = union_of(magnitude, ConstRange::single(0) - magnitude);
    r = union_of(r, ConstRange::single(0));
    if (is_non_negative(a) && (is_remainder || is_non_negative(b))) {
        r.min = 0;
    }
    return r;
}

/// Of what is r in unbounded integers and is brought to the nearest value of t.
IntegerInfo saturated(const ConstRange &r, Type t) {
    const ConstRange whole = ConstRange::of_type(t);
    const ConstRange above = whole.min ? max(r, ConstRange::single(*whole.min)) : r;
    return {whole.max ? min(above, ConstRange::single(*whole.max)) : above, {}};
}

IntegerInfo of_promise(const Call *op, const InfoOf &of) {
    const IntegerInfo value = of(op->args[0]);
    ConstRange promised;
    if (op->args[1].defined()) {
        promised.min = of(op->args[1]).range.min;
    }
    if (op->args[2].defined()) {
        promised.max = of(op->args[2]).range.max;
    }
    return {within(value.range, promised), value.alignment};
}

/// Calls whose value is that of one of their arguments.
IntegerInfo of_choice(const Call *op, const InfoOf &of) {
    switch (op->intrinsic) {
    case Intrinsic::require:
    case Intrinsic::return_second:
        return of(op->args[1]);
    case Intrinsic::if_then_else:
    case Intrinsic::mux: {
        IntegerInfo all = of(op->args[1]);
        for (size_t i = 2; i < op->args.size(); i++) {
            all = either(all, of(op->args[i]));
        }
        return all;
    }
    default:
        return of(op->args[0]);
    }
}

IntegerInfo of_call(const Call *op, const InfoOf &of) {
    const Type t = op->type;
    const auto range = [&](size_t i) {
        return of(op->args[i]).range;
    };
    switch (op->intrinsic) {
    case Intrinsic::likely:
    case Intrinsic::likely_if_innermost:
    case Intrinsic::memoize_expr:
    case Intrinsic::require:
    case Intrinsic::return_second:
    case Intrinsic::if_then_else:
    case Intrinsic::mux:
        return of_choice(op, of);
    case Intrinsic::promise_clamped:
    case Intrinsic::unsafe_promise_clamped:
        return of_promise(op, of);
    case Intrinsic::bitwise_and:
    case Intrinsic::bitwise_or:
    case Intrinsic::bitwise_xor:
        return of_bitwise(op->intrinsic, of(op->args[0]), of(op->args[1]), t);
    case Intrinsic::bitwise_not:
        return of_bitwise_not(of(op->args[0]), t);
    case Intrinsic::shift_left:
    case Intrinsic::shift_right:
        return of_shift(of(op->args[0]), range(1), op->intrinsic == Intrinsic::shift_left, t);
    case Intrinsic::saturating_cast:
        return op->args[0].type().is_int_or_uint() ? saturated(range(0), t) : anything(t);
    case Intrinsic::saturating_add:
        return saturated(range(0) + range(1), t);
    case Intrinsic::saturating_sub:
        return saturated(range(0) - range(1), t);
    case Intrinsic::abs:
        return op->args[0].type().is_uint() ? of(op->args[0]) : fitted(abs(range(0)), {}, t);
    case Intrinsic::absd:
        return op->args[0].type().is_int_or_uint() ? fitted(abs(range(0) - range(1)), {}, t)
                                                   : anything(t);
    case Intrinsic::count_leading_zeros:
    case Intrinsic::count_trailing_zeros:
    case Intrinsic::popcount:
        return {ConstRange::of(0, op->args[0].type().bits()), {}};
    case Intrinsic::div_round_to_zero:
    case Intrinsic::mod_round_to_zero:
        return fitted(
            of_truncated(range(0), range(1), op->intrinsic == Intrinsic::mod_round_to_zero), {}, t);
    default:
        return anything(t);
    }
}

IntegerInfo of_operation(const Expr &e, const InfoOf &of) {
    check_stack();
    const Type t = e.type();
    switch (e.kind()) {
#define ARITH(Name, symbol)                                                                        \
    case NodeKind::Name: {                                                                         \
        const auto *op = e.as<Name>();                                                             \
        return arithmetic(NodeKind::Name, of(op->a), of(op->b), t);                                \
    }
#include "ir/nodes.def"
    case NodeKind::IntImm:
        return {ConstRange::single(e.as<IntImm>()->value), {0, e.as<IntImm>()->value}};
    case NodeKind::UIntImm:
        return of_constant(e.as<UIntImm>()->value);
    case NodeKind::Broadcast:
        return of(e.as<Broadcast>()->value);
    case NodeKind::Cast:
        return of_cast(e.as<Cast>(), of);
    case NodeKind::Select:
        return either(of(e.as<Select>()->true_value), of(e.as<Select>()->false_value));
    case NodeKind::Ramp: {
        const auto *op = e.as<Ramp>();
        const IntegerInfo base = of(op->base), stride = of(op->stride);
        return of_sum(base.range + stride.range * ConstRange::of(0, op->lanes - 1),
                      base.alignment + stride.alignment * Alignment{}, t);
    }
    case NodeKind::Shuffle: {
        const auto *op = e.as<Shuffle>();
        IntegerInfo all = of(op->vectors[0]);
        for (const Expr &v : op->vectors) {
            all = either(all, of(v));
        }
        return all;
    }
    case NodeKind::VectorReduce:
        return of_reduction(e.as<VectorReduce>(), of);
    case NodeKind::Call:
        return of_call(e.as<Call>(), of);
    default:
        return anything(t);
    }
}

}  // namespace

namespace {

// Whether the operation gives sums what its operands are, whose sums may overflow on the way.
bool passes_sums_on(NodeKind kind) {
    switch (kind) {
    case NodeKind::Add:
    case NodeKind::Sub:
    case NodeKind::Mul:
    case NodeKind::Select:
    case NodeKind::Ramp:
    case NodeKind::Broadcast:
    case NodeKind::Shuffle:
        return true;
    default:
        return false;
    }
}

}  // namespace

bool may_leave_type(const Expr &e) {
    const NodeKind kind = e.kind();
    return !e.type().can_overflow() &&
           (passes_sums_on(kind) || kind == NodeKind::Variable || kind == NodeKind::Let);
}

IntegerInfo fitted_to(const IntegerInfo &unbounded, Type t) {
    const ConstRange &r = unbounded.range, whole = ConstRange::of_type(t);
    return whole.contains(r) ? unbounded : IntegerInfo{fit_type(r, t), unbounded.alignment};
}

IntegerInfo unbounded_info_of_operation(const Expr &e, const InfoOf &of) {
    const bool is_sum = passes_sums_on(e.kind());
    IntegerInfo result = is_sum ? of_operation(e, of) : of_operation(e, [&of](const Expr &operand) {
        const IntegerInfo info = of(operand);
        return may_leave_type(operand) ? fitted_to(info, operand.type()) : info;
    });
    if (!is_sum || e.type().can_overflow()) {
        result.range = intersection(result.range, ConstRange::of_type(e.type()));
    } else if (const Sub *op = e.as<Sub>()) {
        result.range = within(result.range, difference_range(op->a, op->b));
    }
    return result;
}

IntegerInfo info_of_operation(const Expr &e, const InfoOf &of) {
    const IntegerInfo info = unbounded_info_of_operation(e, of);
    return may_leave_type(e) ? fitted_to(info, e.type()) : info;
}

}  // namespace calotype::internal
