// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "legalize/expand_intrinsics.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "ir/constants.h"
#include "ir/operators.h"

namespace calotype::internal {

namespace {

Type unsigned_of(Type t) {
    return t.with_code(Type::UInt);
}

Type signed_of(Type t) {
    return t.with_code(Type::Int);
}

Expr bits_of(const Expr &e) {
    Type t = e.type();
    return t.is_float() ? Reinterpret::make(unsigned_of(t), e)
           : t.is_int() ? Cast::make(unsigned_of(t), e)
                        : e;
}

Expr from_bits(Type t, const Expr &e) {
    return t.is_float() ? Reinterpret::make(t, e) : t == e.type() ? e : Cast::make(t, e);
}

Expr call(Type t, Intrinsic id, const Expr &a, const Expr &b) {
    return Call::make(t, id, {a, b});
}

Expr bit_and(const Expr &a, const Expr &b) {
    return call(a.type(), Intrinsic::bitwise_and, a, b);
}

Expr bit_or(const Expr &a, const Expr &b) {
    return call(a.type(), Intrinsic::bitwise_or, a, b);
}

Expr bit_xor(const Expr &a, const Expr &b) {
    return call(a.type(), Intrinsic::bitwise_xor, a, b);
}

Expr shift_left(const Expr &a, const Expr &unsigned_by) {
    return call(a.type(), Intrinsic::shift_left, a, unsigned_by);
}

Expr shift_right(const Expr &a, const Expr &unsigned_by) {
    return call(a.type(), Intrinsic::shift_right, a, unsigned_by);
}

Expr shift_right(const Expr &a, int by) {
    return shift_right(a, make_const(unsigned_of(a.type()), by));
}

Expr named(const Expr &e, const char *name) {
    return Variable::make(e.type(), name);
}

/// let name = value in body, where body is made from the name.
template<typename Body>
Expr let(const char *name, const Expr &value, Body body) {
    return Let::make(name, value, body(named(value, name)));
}

using Args = std::vector<Expr>;

Expr expand_abs(const Call *op, const Args &a) {
    Type from = a[0].type();
    if (!from.is_int()) {
        return from.is_uint() ? a[0] : Expr();
    }
    Expr u = bits_of(a[0]);
    return Select::make(LT::make(a[0], make_zero(from)), Sub::make(make_zero(op->type), u), u);
}

Expr expand_absd(const Call *op, const Args &a) {
    if (op->type.is_float()) {
        return Call::make(op->type, Intrinsic::abs, {Sub::make(a[0], a[1])});
    }
    Expr x = bits_of(a[0]), y = bits_of(a[1]);
    return Select::make(LT::make(a[1], a[0]), Sub::make(x, y), Sub::make(y, x));
}

// Distances of signed type may be negative; those of unsigned type are left to the language.
Expr expand_shift(const Call *op, const Args &a) {
    Type t = op->type, distance = a[1].type();
    if (distance.is_uint()) {
        return Expr();
    }
    bool left = op->is_intrinsic(Intrinsic::shift_left);
    if (auto c = as_const_int(a[1])) {
        Expr by = make_const(unsigned_of(t), int64_t(std::abs(*c)));
        return left == (*c >= 0) ? shift_left(a[0], by) : shift_right(a[0], by);
    }
    // Both shifts are evaluated, so both distances are brought into range.
    Expr mask = make_const(unsigned_of(t), t.bits() - 1);
    Expr by = Cast::make(unsigned_of(t), a[1]);
    Expr forth = bit_and(by, mask), back = bit_and(Sub::make(make_zero(by.type()), by), mask);
    Expr is_back = LT::make(a[1], make_zero(distance));
    return Select::make(is_back, left ? shift_right(a[0], back) : shift_left(a[0], back),
                        left ? shift_left(a[0], forth) : shift_right(a[0], forth));
}

Expr expand_bitwise(const Call *op, const Args &a) {
    Type t = op->type;
    if (t.is_bool()) {
        switch (op->intrinsic) {
        case Intrinsic::bitwise_and:
            return And::make(a[0], a[1]);
        case Intrinsic::bitwise_or:
            return Or::make(a[0], a[1]);
        case Intrinsic::bitwise_not:
            return Not::make(a[0]);
        default:
            return NE::make(a[0], a[1]);
        }
    }
    if (!t.is_float()) {
        return Expr();
    }
    Args bits;
    for (const Expr &e : a) {
        bits.push_back(bits_of(e));
    }
    return from_bits(t, Call::make(unsigned_of(t), op->intrinsic, bits));
}

Expr expand_extract_bits(const Call *op, const Args &a) {
    Expr v = bits_of(a[0]);
    Expr shifted = shift_right(v, Cast::make(v.type(), a[1]));
    return from_bits(op->type, Cast::make(unsigned_of(op->type), shifted));
}

Expr expand_concat_bits(const Call *op, const Args &a) {
    Type wide = unsigned_of(op->type);
    Expr result;
    int shift = 0;
    for (const Expr &part : a) {
        Expr v = Cast::make(wide, bits_of(part));
        v = shift == 0 ? v : shift_left(v, make_const(wide, shift));
        result = result.defined() ? bit_or(result, v) : v;
        shift += part.type().bits();
    }
    return from_bits(op->type, result);
}

Expr expand_widening(const Call *op, const Args &a) {
    Expr x = Cast::make(op->type, a[0]), y = Cast::make(op->type, a[1]);
    switch (op->intrinsic) {
    case Intrinsic::widening_add:
    case Intrinsic::widen_right_add:
        return Add::make(x, y);
    case Intrinsic::widening_sub:
    case Intrinsic::widen_right_sub:
        return Sub::make(x, y);
    case Intrinsic::widening_shift_left:
    case Intrinsic::widening_shift_right: {
        Expr by = Cast::make(op->type.with_code(a[1].type().code()), a[1]);
        bool left = op->is_intrinsic(Intrinsic::widening_shift_left);
        return call(op->type, left ? Intrinsic::shift_left : Intrinsic::shift_right, x, by);
    }
    default:
        return Mul::make(x, y);
    }
}

// A sum of one sign with operands of the other has overflowed, to the side of the operands.
Expr expand_saturating(const Call *op, const Args &a) {
    Type t = op->type;
    bool adds = op->is_intrinsic(Intrinsic::saturating_add);
    if (t.is_float()) {
        return adds ? Add::make(a[0], a[1]) : Sub::make(a[0], a[1]);
    }
    Expr x = bits_of(a[0]), y = bits_of(a[1]);
    Expr sum = adds ? Add::make(x, y) : Sub::make(x, y);
    if (t.is_uint()) {
        return adds ? let(".sum", sum,
                          [&](const Expr &s) {
                              return Select::make(LT::make(s, x), make_const(t, t.umax()), s);
                          })
                    : Select::make(LT::make(x, y), make_zero(t), sum);
    }
    return let(".sum", sum, [&](const Expr &s) {
        Expr flipped =
            adds ? bit_and(bit_xor(s, x), bit_xor(s, y)) : bit_and(bit_xor(x, y), bit_xor(s, x));
        Expr limit = bit_xor(shift_right(a[0], t.bits() - 1), make_const(t, int64_t(t.imax())));
        return Select::make(LT::make(Cast::make(t, flipped), make_zero(t)), limit,
                            Cast::make(t, s));
    });
}

Expr expand_is_nan(const Expr &e, Intrinsic id) {
    Type t = e.type(), u = unsigned_of(t);
    uint64_t infinity = t.bits() == 64   ? 0x7ff0000000000000
                        : t.bits() == 32 ? 0x7f800000
                        : t.is_bfloat()  ? 0x7f80
                                         : 0x7c00;
    Expr magnitude = bit_and(Reinterpret::make(u, e), make_const(u, u.umax() >> 1));
    Expr limit = make_const(u, infinity);
    return id == Intrinsic::is_nan   ? GT::make(magnitude, limit)
           : id == Intrinsic::is_inf ? EQ::make(magnitude, limit)
                                     : LT::make(magnitude, limit);
}

Expr expand_float_class(const Call *op, const Args &a) {
    return expand_is_nan(a[0], op->intrinsic);
}

Expr largest_integer(Type t) {
    return t.is_int() ? make_const(t, t.imax()) : make_const(t, t.umax());
}

// A NaN, which is neither below nor above, becomes the largest integer where that has fewer bits
// than the float, else the smallest. A float beyond all integers of as many bits or more, which is
// a power of two, is not converted, which has no meaning.
Expr saturating_float_to_int(Type to, const Expr &v) {
    Type from = v.type();
    const int digits = to.bits() - to.is_int();
    Expr lowest = make_const(from, to.is_int() ? -std::ldexp(1.0, digits) : 0.0);
    if (to.bits() < from.bits()) {
        Expr highest = make_const(from, std::ldexp(1.0, digits) - 1);
        Expr below = Select::make(LT::make(v, highest), v, highest);
        return let(".below", below, [&](const Expr &b) {
            return Cast::make(to, Select::make(GT::make(b, lowest), b, lowest));
        });
    }
    Expr lifted = Select::make(GT::make(v, lowest), v, lowest);
    return let(".above", lifted, [&](const Expr &above) {
        Expr is_high = GE::make(above, make_const(from, std::ldexp(1.0, digits)));
        Expr inside = Cast::make(to, Select::make(is_high, make_zero(from), above));
        return Select::make(is_high, largest_integer(to), inside);
    });
}

Expr expand_saturating_cast(const Call *op, const Args &a) {
    Type from = a[0].type(), to = op->type;
    if (to.is_float() || to.can_represent(from)) {
        return Cast::make(to, a[0]);
    }
    if (from.is_float()) {
        return from.bits() == 16
                   ? saturating_float_to_int(to, Cast::make(Float(32, from.lanes()), a[0]))
                   : saturating_float_to_int(to, a[0]);
    }
    Expr v = a[0];
    if (from.is_int()) {
        int64_t low = to.is_int() ? to.imin() : 0;
        bool matters = from.element_of().can_represent(low) && low > from.imin();
        v = matters ? Max::make(v, make_const(from, low)) : v;
    }
    bool top_matters = to.is_int() ? from.element_of().can_represent(to.imax())
                                   : from.element_of().can_represent(to.umax());
    if (top_matters) {
        v = Min::make(v, to.is_int() ? make_const(from, to.imax()) : make_const(from, to.umax()));
    }
    return Cast::make(to, v);
}

//     x + y == 2 * (x & y) + (x ^ y) == 2 * (x | y) - (x ^ y)      x - y == (x ^ y) - 2 * (~x & y)
Expr expand_halving(const Call *op, const Args &a) {
    Expr half = shift_right(bit_xor(a[0], a[1]), 1);
    switch (op->intrinsic) {
    case Intrinsic::halving_add:
        return Add::make(bit_and(a[0], a[1]), half);
    case Intrinsic::rounding_halving_add:
        return Sub::make(bit_or(a[0], a[1]), half);
    default:
        return Sub::make(half, bit_and(Call::make(op->type, Intrinsic::bitwise_not, {a[0]}), a[1]));
    }
}

/// a / 2^by to nearest, ties up, for a constant. `has_room`: half of 2^by may be added to any a. Otherwise a 1 is, between
/// two shifts, but not in vectors of signed 64 bits, where a shift is several operations on many machines.
Expr rounding_right(const Expr &a, int by, bool has_room) {
    const Type t = a.type();
    if (by == 0) {
        return a;
    }
    if (has_room) {
        return shift_right(Add::make(a, make_const(t, int64_t(1) << (by - 1))), by);
    }
    const Expr last = by > 1 ? shift_right(a, by - 1) : a;
    if (by > 1 && (t.is_uint() || t.bits() < 64 || t.is_scalar())) {
        return shift_right(Add::make(last, make_one(t)), 1);
    }
    return Add::make(shift_right(a, by), bit_and(last, make_one(t)));
}

/// a / 2^by to nearest, ties up: what is shifted out last is added. `by` may be 0.
Expr rounding_right(const Expr &a, const Expr &by) {
    Type t = a.type(), u = by.type();
    if (const auto c = as_const_uint(by); c && *c < uint64_t(t.bits())) {
        return rounding_right(a, int(*c), false);
    }
    Expr mask = make_const(u, t.bits() - 1);
    Expr last = shift_right(a, bit_and(Sub::make(by, make_one(u)), mask));
    Expr bit = Select::make(EQ::make(by, make_zero(u)), make_zero(t), bit_and(last, make_one(t)));
    return Add::make(shift_right(a, bit_and(by, mask)), bit);
}

Expr expand_rounding_shift(const Call *op, const Args &a) {
    Type u = unsigned_of(op->type), distance = a[1].type();
    bool left = op->is_intrinsic(Intrinsic::rounding_shift_left);
    if (distance.is_uint()) {
        Expr by = distance == u ? a[1] : Cast::make(u, a[1]);
        return left ? shift_left(a[0], by) : rounding_right(a[0], by);
    }
    if (auto c = as_const_int(a[1])) {
        Expr by = make_const(u, int64_t(std::abs(*c)));
        return left == (*c > 0) && *c != 0 ? shift_left(a[0], by) : rounding_right(a[0], by);
    }
    Expr mask = make_const(u, op->type.bits() - 1);
    Expr by = Cast::make(u, a[1]), back = Sub::make(make_zero(u), by);
    Expr is_back = LT::make(a[1], make_zero(distance));
    Expr up = shift_left(a[0], bit_and(left ? by : back, mask));
    Expr down = rounding_right(a[0], left ? back : by);
    return left ? Select::make(is_back, down, up) : Select::make(is_back, up, down);
}

// Of 64 bits it has no form here.
Expr expand_mul_shift(const Call *op, const Args &a) {
    Type t = op->type;
    if (t.bits() == 64) {
        return Expr();
    }
    bool is_signed = a[0].type().is_int() || a[1].type().is_int();
    Type wide = (is_signed ? signed_of(t) : unsigned_of(t)).widen();
    Expr product = Mul::make(Cast::make(wide, a[0]), Cast::make(wide, a[1]));
    const auto saturated = [&](const Expr &v) {
        return Call::make(t, Intrinsic::saturating_cast, {v});
    };
    return let(".product", product, [&](const Expr &p) {
        Expr q = Cast::make(unsigned_of(wide), a[2]);
        if (!op->is_intrinsic(Intrinsic::rounding_mul_shift_right)) {
            return saturated(shift_right(p, q));
        }
        const auto c = as_const_uint(a[2]);
        const bool has_room = c && *c <= uint64_t(t.bits());
        return saturated(has_room ? rounding_right(p, int(*c), true) : rounding_right(p, q));
    });
}

/// The weight as an integer of 0 ... 2^bits - 1, where that stands for 0 ... 1. What is more exact
/// is cut. The ratio of the largest weights of more and of fewer bits is whole.
Expr integer_weight(const Expr &weight, int bits) {
    const Type from = weight.type();
    const Type t = UInt(bits, from.lanes());
    if (from.is_float()) {
        Type real = Float(bits > 16 ? 64 : std::max(32, from.bits()), t.lanes());
        Expr whole = make_const(real, double(t.umax()));
        return Cast::make(t, Mul::make(whole, from == real ? weight : Cast::make(real, weight)));
    }
    if (from.bits() > bits) {
        return Cast::make(t, Div::make(weight, make_const(from, from.umax() / t.umax())));
    }
    return from == t ? weight
                     : Mul::make(Cast::make(t, weight), make_const(t, t.umax() / from.umax()));
}

Expr lerp_of_floats(Type t, const Args &a) {
    Expr weight = a[2].type() == t ? a[2] : Cast::make(t, a[2]);
    if (!a[2].type().is_float()) {
        weight = Div::make(weight, make_const(t, double(a[2].type().umax())));
    }
    return let(".weight", weight, [&](const Expr &w) {
        return Add::make(Mul::make(a[0], Sub::make(make_one(t), w)), Mul::make(a[1], w));
    });
}

/// The one that the weight is nearer to.
Expr lerp_of_bools(const Args &a) {
    Type t = a[2].type();
    Expr half = t.is_float() ? make_const(t, 0.5) : make_const(t, t.umax() / 2);
    return Select::make(GT::make(a[2], half), a[1], a[0]);
}

// The product of the difference and the weight has up to 96 bits. With difference = high * 2^32 +
// low, the quotients of both parts are added, and that of what they leave:
//     high * weight = q1 * top + r1      low * weight + top / 2 = q2 * top + r2
//     nearest(difference * weight / top) = (q1 << 32) + q2 + ((r1 << 32) + r2) / top
Expr lerp_of_64_bits(const Args &a, const Expr &weight) {
    Type t = a[0].type();
    Expr w = Cast::make(t, weight), top = make_const(t, weight.type().umax());
    Expr up = LT::make(a[0], a[1]);
    Expr difference = Select::make(up, Sub::make(a[1], a[0]), Sub::make(a[0], a[1]));
    Expr by = make_const(t, 32);
    return let(".difference", difference, [&](const Expr &d) {
        Expr low_bits = bit_and(d, make_const(t, uint64_t(0xffffffff)));
        Expr high = Mul::make(shift_right(d, by), w);
        Expr low = Add::make(Mul::make(low_bits, w), make_const(t, weight.type().umax() / 2));
        Expr left = Add::make(shift_left(Mod::make(high, top), by), Mod::make(low, top));
        Expr whole = Add::make(shift_left(Div::make(high, top), by), Div::make(low, top));
        return let(".part", Add::make(whole, Div::make(left, top)), [&](const Expr &p) {
            return Select::make(up, Add::make(a[0], p), Sub::make(a[0], p));
        });
    });
}

Expr expand_lerp(const Call *op, const Args &a) {
    Type t = op->type, u = unsigned_of(t);
    if (t.is_float()) {
        return lerp_of_floats(t, a);
    }
    if (t.is_bool()) {
        return lerp_of_bools(a);
    }
    Expr weight = integer_weight(a[2], std::min(t.bits(), 32));
    if (t.is_int()) {
        // Moved up by 2^(bits - 1) both ends are unsigned.
        Expr bias = make_const(u, uint64_t(1) << (t.bits() - 1));
        Expr moved =
            Call::make(u, Intrinsic::lerp,
                       {Add::make(bits_of(a[0]), bias), Add::make(bits_of(a[1]), bias), weight});
        return Cast::make(t, Sub::make(moved, bias));
    }
    if (t.bits() == 64) {
        return lerp_of_64_bits(a, weight);
    }
    Type wide = u.with_bits(2 * t.bits());
    Expr top = make_const(wide, weight.type().umax());
    Expr w = Cast::make(wide, weight);
    Expr sum = Add::make(Mul::make(Cast::make(wide, a[0]), Sub::make(top, w)),
                         Mul::make(Cast::make(wide, a[1]), w));
    sum = Add::make(sum, make_const(wide, weight.type().umax() / 2));
    return Cast::make(t, Div::make(sum, top));
}

Expr expand_strict(const Call *op, const Args &a) {
    switch (op->intrinsic) {
    case Intrinsic::strict_add:
        return Add::make(a[0], a[1]);
    case Intrinsic::strict_sub:
        return Sub::make(a[0], a[1]);
    case Intrinsic::strict_mul:
        return Mul::make(a[0], a[1]);
    case Intrinsic::strict_div:
        return Div::make(a[0], a[1]);
    case Intrinsic::strict_min:
        return Select::make(LT::make(a[0], a[1]), a[0], a[1]);
    case Intrinsic::strict_max:
        return Select::make(GT::make(a[0], a[1]), a[0], a[1]);
    case Intrinsic::strict_eq:
        return EQ::make(a[0], a[1]);
    case Intrinsic::strict_lt:
        return LT::make(a[0], a[1]);
    case Intrinsic::strict_le:
        return LE::make(a[0], a[1]);
    default:
        return Cast::make(op->type, a[0]);
    }
}

Expr expand_first(const Call *, const Args &a) {
    return a[0];
}

Expr expand_nothing(const Call *op, const Args &) {
    return make_zero(op->type);
}

Expr expand_return_second(const Call *, const Args &a) {
    return a[1];
}

Expr expand_mux(const Call *op, const Args &a) {
    Expr result = a.back();
    for (size_t i = a.size() - 2; i >= 1; i--) {
        Expr is_it = EQ::make(a[0], make_const(a[0].type(), int64_t(i - 1)));
        result = Select::make(is_it, a[i], result);
    }
    return result;
}

Expr with_bits_of_tf32(const Expr &bits) {
    constexpr uint32_t kept = 0xffffe000;
    return bit_and(bits, make_const(bits.type(), kept));
}

Expr expand_truncate_to_tf32(const Call *op, const Args &a) {
    return from_bits(op->type, with_bits_of_tf32(bits_of(a[0])));
}

/// Half of the last bit that stays is added, so that what is cut off rounds; a NaN stays one.
Expr expand_tf32(const Call *op, const Args &a) {
    constexpr uint32_t half = 0x1000;
    const Type t = op->type;
    Expr rounded = with_bits_of_tf32(Add::make(bits_of(a[0]), make_const(unsigned_of(t), half)));
    return Select::make(Call::make(Bool(t.lanes()), Intrinsic::is_nan, {a[0]}), a[0],
                        from_bits(t, rounded));
}

using Expander = Expr (*)(const Call *, const Args &);

const std::map<Intrinsic, Expander> &expanders() {
    using I = Intrinsic;
    static const std::map<Intrinsic, Expander> table = {
        {I::abs, expand_abs},
        {I::absd, expand_absd},
        {I::bitwise_and, expand_bitwise},
        {I::bitwise_not, expand_bitwise},
        {I::bitwise_or, expand_bitwise},
        {I::bitwise_xor, expand_bitwise},
        {I::shift_left, expand_shift},
        {I::shift_right, expand_shift},
        {I::extract_bits, expand_extract_bits},
        {I::widen_right_add, expand_widening},
        {I::widen_right_mul, expand_widening},
        {I::widen_right_sub, expand_widening},
        {I::widening_add, expand_widening},
        {I::widening_mul, expand_widening},
        {I::widening_sub, expand_widening},
        {I::widening_shift_left, expand_widening},
        {I::widening_shift_right, expand_widening},
        {I::rounding_shift_left, expand_rounding_shift},
        {I::rounding_shift_right, expand_rounding_shift},
        {I::saturating_add, expand_saturating},
        {I::saturating_sub, expand_saturating},
        {I::saturating_cast, expand_saturating_cast},
        {I::halving_add, expand_halving},
        {I::halving_sub, expand_halving},
        {I::rounding_halving_add, expand_halving},
        {I::mul_shift_right, expand_mul_shift},
        {I::rounding_mul_shift_right, expand_mul_shift},
        {I::is_nan, expand_float_class},
        {I::is_inf, expand_float_class},
        {I::is_finite, expand_float_class},
        {I::lerp, expand_lerp},
        {I::round_to_tf32, expand_tf32},
        {I::trunc_to_tf32, expand_truncate_to_tf32},
        {I::strict_add, expand_strict},
        {I::strict_sub, expand_strict},
        {I::strict_mul, expand_strict},
        {I::strict_div, expand_strict},
        {I::strict_min, expand_strict},
        {I::strict_max, expand_strict},
        {I::strict_eq, expand_strict},
        {I::strict_lt, expand_strict},
        {I::strict_le, expand_strict},
        {I::strict_cast, expand_strict},
        {I::likely, expand_first},
        {I::likely_if_innermost, expand_first},
        {I::promise_clamped, expand_first},
        {I::unsafe_promise_clamped, expand_first},
        {I::strict_float, expand_first},
        {I::memoize_expr, expand_first},
        {I::return_second, expand_return_second},
        {I::mux, expand_mux},
        {I::concat_bits, expand_concat_bits},
        {I::undef, expand_nothing},
        {I::signed_integer_overflow, expand_nothing},
        {I::declare_box_touched, expand_nothing},
    };
    return table;
}

}  // namespace

Expr expand_intrinsic(const Call *op, const std::vector<Expr> &args) {
    auto it = expanders().find(op->intrinsic);
    return it == expanders().end() ? Expr() : it->second(op, args);
}

}  // namespace calotype::internal
