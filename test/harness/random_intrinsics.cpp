// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random calls of pure intrinsics: whatever types the verifier allows, with operands for which most
// results have a meaning.
#include "harness/random_ir.h"

namespace calotype::test {

using namespace internal;

namespace {

Type unsigned_of(Type t) {
    return t.with_code(Type::UInt);
}

Type half_of(Type t) {
    return t.with_bits(t.bits() / 2);
}

}  // namespace

Type RandomIr::of_either_sign(Type t) {
    return t.with_code(one_in(2) ? Type::Int : Type::UInt);
}

// Less than the bits: a constant of either sign, or what remains of anything.
Expr RandomIr::distance(Type t, int depth) {
    const int bits = t.bits();
    if (one_in(2)) {
        const int by = below(2 * bits - 1) - (bits - 1);
        return make_const(by < 0 ? t.with_code(Type::Int) : of_either_sign(t), by);
    }
    const Type d = of_either_sign(t);
    const Expr by =
        Call::make(d, Intrinsic::bitwise_and, {expr(d, depth), make_const(d, bits - 1)});
    return d.is_int() && one_in(2) ? Sub::make(by, make_const(d, bits - 1)) : by;
}

Expr RandomIr::widening(Type t, int depth) {
    const Type half = half_of(t), sources = of_either_sign(half);
    const auto of = [&](Intrinsic id, Type a, Type b) {
        const Expr x = expr(a, depth);
        return Call::make(t, id, {x, expr(b, depth)});
    };
    switch (below(7)) {
    case 0:
        return of(Intrinsic::widening_add, half, half);
    case 1:
        return t.is_int() ? of(Intrinsic::widening_sub, sources, sources)
                          : of(Intrinsic::widening_add, half, half);
    case 2:
        return t.is_int() ? of(Intrinsic::widening_mul, half, sources)
                          : of(Intrinsic::widening_mul, half, half);
    case 3: {
        const Expr a = expr(half, depth);
        return Call::make(
            t, one_in(2) ? Intrinsic::widening_shift_left : Intrinsic::widening_shift_right,
            {a, distance(half, depth)});
    }
    case 4:
        return of(Intrinsic::widen_right_add, t, half);
    case 5:
        return of(Intrinsic::widen_right_sub, t, half);
    default:
        return of(Intrinsic::widen_right_mul, t, half);
    }
}

// Two or three operands of one type give a result of it.
Expr RandomIr::fixed_point(Type t, int depth) {
    static const std::vector<Intrinsic> of_two = {
        Intrinsic::saturating_add, Intrinsic::saturating_sub, Intrinsic::halving_add,
        Intrinsic::halving_sub, Intrinsic::rounding_halving_add};
    const Expr a = expr(t, depth);
    switch (below(4)) {
    case 0:
        return Call::make(
            t, one_in(2) ? Intrinsic::rounding_shift_left : Intrinsic::rounding_shift_right,
            {a, distance(t, depth)});
    case 1: {
        const Type u = unsigned_of(t);
        const Expr b = expr(t, depth), any = expr(u, depth);
        const Expr q = one_in(2) ? make_const(u, below(2 * t.bits()))
                                 : Call::make(u, Intrinsic::bitwise_and,
                                              {any, make_const(u, 2 * t.bits() - 1)});
        return Call::make(
            t, one_in(2) ? Intrinsic::mul_shift_right : Intrinsic::rounding_mul_shift_right,
            {a, b, q});
    }
    case 2: {
        const Expr b = expr(t, depth);
        const Type weight = UInt(8 << below(3), t.lanes());
        return Call::make(t, Intrinsic::lerp, {a, b, expr(weight, depth)});
    }
    default:
        return Call::make(t, one_of(of_two), {a, expr(t, depth)});
    }
}

Expr RandomIr::bits(Type t, int depth) {
    static const std::vector<Intrinsic> of_two = {
        Intrinsic::bitwise_and, Intrinsic::bitwise_or, Intrinsic::bitwise_xor,
        Intrinsic::div_round_to_zero, Intrinsic::mod_round_to_zero};
    const Expr a = expr(t, depth);
    switch (below(6)) {
    case 0:
        return Call::make(t, one_in(2) ? Intrinsic::shift_left : Intrinsic::shift_right,
                          {a, distance(t, depth)});
    case 1:
        return one_in(2) ? Call::make(t, Intrinsic::bitwise_not, {a})
                         : Call::make(t, Intrinsic::popcount, {a});
    case 2:
        // The counts of zero have no meaning.
        return Call::make(
            t, one_in(2) ? Intrinsic::count_leading_zeros : Intrinsic::count_trailing_zeros,
            {Call::make(t, Intrinsic::bitwise_or, {a, make_const(t, 1 << below(7))})});
    case 3: {
        const Type from = of_either_sign(t.with_bits(8 << below(4)));
        return Call::make(t, Intrinsic::extract_bits,
                          {expr(from, depth), make_const(unsigned_of(from), below(from.bits()))});
    }
    case 4:
        if (t.bits() > 8) {
            const Type part = unsigned_of(half_of(t));
            const Expr low = expr(part, depth);
            const Expr whole =
                Call::make(unsigned_of(t), Intrinsic::concat_bits, {low, expr(part, depth)});
            return t.is_uint() ? whole : Cast::make(t, whole);
        }
        return a;
    default:
        return Call::make(t, one_of(of_two), {a, expr(t, depth)});
    }
}

// mux is scalar in its index; the last value is that of all other indices.
Expr RandomIr::choice(Type t, int depth) {
    const Expr a = expr(t, depth), b = expr(t, depth);
    switch (below(4)) {
    case 0:
        return Call::make(t, Intrinsic::if_then_else, {expr(Bool(), depth), a, b});
    case 1:
        return Call::make(t, Intrinsic::if_then_else, {expr(Bool(t.lanes()), depth), a, b});
    case 2:
        return Call::make(t, Intrinsic::mux,
                          {expr(Int(32, t.lanes()), depth), a, b, expr(t, depth)});
    default:
        return Call::make(t, Intrinsic::return_second, {a, b});
    }
}

Expr RandomIr::float_intrinsic(Type t, int depth) {
    static const std::vector<Intrinsic> of_one = {Intrinsic::abs,   Intrinsic::floor,
                                                  Intrinsic::ceil,  Intrinsic::round,
                                                  Intrinsic::trunc, Intrinsic::sqrt};
    static const std::vector<Intrinsic> of_two = {Intrinsic::absd,       Intrinsic::strict_add,
                                                  Intrinsic::strict_sub, Intrinsic::strict_mul,
                                                  Intrinsic::strict_div, Intrinsic::strict_min,
                                                  Intrinsic::strict_max, Intrinsic::saturating_add};
    const Expr a = expr(t, depth);
    switch (below(4)) {
    case 0:
        return Call::make(t, one_of(of_one), {a});
    case 1: {
        const Expr b = expr(t, depth);
        return Call::make(t, Intrinsic::lerp, {a, b, expr(UInt(8 << below(2), t.lanes()), depth)});
    }
    case 2: {
        const Expr b = expr(t, depth);
        return t.bits() >= 32 ? Call::make(t, Intrinsic::strict_fma, {a, b, expr(t, depth)})
                              : Call::make(t, Intrinsic::strict_float, {b});
    }
    default:
        return Call::make(t, one_of(of_two), {a, expr(t, depth)});
    }
}

Expr RandomIr::bool_intrinsic(Type t, int depth) {
    static const std::vector<Intrinsic> tests = {Intrinsic::is_nan, Intrinsic::is_inf,
                                                 Intrinsic::is_finite};
    static const std::vector<Intrinsic> comparisons = {Intrinsic::strict_eq, Intrinsic::strict_lt,
                                                       Intrinsic::strict_le};
    const Type f = one_of(std::vector<Type>{Float(16), BFloat(16), Float(32), Float(64)})
                       .with_lanes(t.lanes());
    const Expr a = expr(f, depth);
    return one_in(2) ? Call::make(t, one_of(tests), {a})
                     : Call::make(t, one_of(comparisons), {a, expr(f, depth)});
}

Expr RandomIr::intrinsic(Type t, int depth) {
    if (one_in(6)) {
        return choice(t, depth);
    }
    if (t.is_bool()) {
        return bool_intrinsic(t, depth);
    }
    if (t.is_float()) {
        return float_intrinsic(t, depth);
    }
    switch (below(5)) {
    case 0:
        return t.bits() > 8 ? widening(t, depth) : fixed_point(t, depth);
    case 1:
        return fixed_point(t, depth);
    case 2:
        return Call::make(t, Intrinsic::saturating_cast,
                          {expr(scalar_type().with_lanes(t.lanes()), depth)});
    case 3:
        if (t.is_uint()) {
            const Type from = of_either_sign(t);
            const Expr a = expr(from, depth);
            return one_in(2) ? Call::make(t, Intrinsic::abs, {a})
                             : Call::make(t, Intrinsic::absd, {a, expr(from, depth)});
        }
        return bits(t, depth);
    default:
        return bits(t, depth);
    }
}

}  // namespace calotype::test
