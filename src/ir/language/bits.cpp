// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/language/bits.h"

#include <algorithm>

#include "ir/constants.h"
#include "ir/expr_nodes.h"
#include "ir/language/match_types.h"
#include "ir/operators.h"
#include "support/error.h"

namespace calotype {

using namespace internal;

namespace {

using internal::literal_like;

void check_integer(const char *op, const Expr &x) {
    internal::check_defined(op, x);
    user_assert(x.type().is_int_or_uint())
        << op << " of type " << x.type() << ", must be an integer";
}

Expr bitwise(const char *op, Intrinsic id, Expr x, Expr y) {
    internal::match_bits(op, x, y);
    const Type t = x.type();
    return Call::make(t, id, {std::move(x), cast(t, std::move(y))});
}

Expr shift(const char *op, Intrinsic id, Expr x, Expr y) {
    internal::match_bits(op, x, y);
    const Type t = x.type();
    return Call::make(t, id, {std::move(x), std::move(y)});
}

Expr shift_by_literal(const char *op, Intrinsic id, Expr x, int y) {
    check_integer(op, x);
    const Type t = x.type();
    user_assert(-t.bits() < y && y < t.bits())
        << op << " of type " << t << " by " << y << ", must be less than " << t.bits()
        << " either way";
    return Call::make(t, id, {std::move(x), make_const(y < 0 ? t.with_code(Type::Int) : t, y)});
}

Expr unary(const char *op, Intrinsic id, Expr x) {
    check_integer(op, x);
    const Type t = x.type();
    return Call::make(t, id, {std::move(x)});
}

}  // namespace

#define BITWISE(function, text, id)                                                                \
    Expr function(Expr x, Expr y) {                                                                \
        return bitwise(text, Intrinsic::id, std::move(x), std::move(y));                           \
    }                                                                                              \
    Expr function(Expr x, int y) {                                                                 \
        check_integer(text, x);                                                                    \
        Expr literal = literal_like(text, x, y);                                                   \
        return bitwise(text, Intrinsic::id, std::move(x), std::move(literal));                     \
    }                                                                                              \
    Expr function(int x, Expr y) {                                                                 \
        check_integer(text, y);                                                                    \
        Expr literal = literal_like(text, y, x);                                                   \
        return bitwise(text, Intrinsic::id, std::move(literal), std::move(y));                     \
    }
BITWISE(operator&, "&", bitwise_and)
BITWISE(operator|, "|", bitwise_or)
BITWISE(operator^, "^", bitwise_xor)
#undef BITWISE

Expr operator~(Expr x) {
    return unary("~", Intrinsic::bitwise_not, std::move(x));
}

Expr operator<<(Expr x, Expr y) {
    return shift("<<", Intrinsic::shift_left, std::move(x), std::move(y));
}
Expr operator<<(Expr x, int y) {
    return shift_by_literal("<<", Intrinsic::shift_left, std::move(x), y);
}
Expr operator>>(Expr x, Expr y) {
    return shift(">>", Intrinsic::shift_right, std::move(x), std::move(y));
}
Expr operator>>(Expr x, int y) {
    return shift_by_literal(">>", Intrinsic::shift_right, std::move(x), y);
}

Expr popcount(Expr x) {
    return unary("popcount", Intrinsic::popcount, std::move(x));
}
Expr count_leading_zeros(Expr x) {
    return unary("count_leading_zeros", Intrinsic::count_leading_zeros, std::move(x));
}
Expr count_trailing_zeros(Expr x) {
    return unary("count_trailing_zeros", Intrinsic::count_trailing_zeros, std::move(x));
}

namespace {

Expr round_to_zero(const char *op, Intrinsic id, Expr x, Expr y) {
    check_integer(op, x);
    check_integer(op, y);
    user_assert(!is_const_zero(y)) << op << " by zero";
    internal::match_types(op, x, y);
    const Type t = x.type();
    if (t.is_uint()) {
        return id == Intrinsic::div_round_to_zero ? std::move(x) / std::move(y)
                                                  : std::move(x) % std::move(y);
    }
    return Call::make(t, id, {std::move(x), std::move(y)});
}

}  // namespace

Expr div_round_to_zero(Expr x, Expr y) {
    return round_to_zero("div_round_to_zero", Intrinsic::div_round_to_zero, std::move(x),
                         std::move(y));
}

Expr mod_round_to_zero(Expr x, Expr y) {
    return round_to_zero("mod_round_to_zero", Intrinsic::mod_round_to_zero, std::move(x),
                         std::move(y));
}

namespace {

/// From a bit before the first on: zeros come in.
Expr extract_bits_from_below(const Type &t, const Expr &e, const Expr &lsb) {
    const int lanes = e.type().lanes();
    const Type bits = UInt(e.type().bits(), lanes);
    const Type wide = UInt(std::max(t.bits(), bits.bits()), lanes);
    const Expr distance = cast(wide, -cast(Int(std::max(32, lsb.type().bits()), lanes), lsb));
    const Expr moved = cast(wide, reinterpret(bits, e)) << distance;
    return Call::make(t.with_lanes(lanes), Intrinsic::extract_bits, {moved, make_zero(wide)});
}

}  // namespace

Expr extract_bits(Type t, const Expr &e, const Expr &lsb) {
    internal::check_defined("extract_bits", e, lsb);
    user_assert(lsb.type().is_int_or_uint())
        << "extract_bits from a bit of type " << lsb.type() << ", must be an integer";
    user_assert(!t.is_handle() && !e.type().is_handle()) << "extract_bits of a handle";
    const int lanes = e.type().lanes();
    const Expr position = cast(UInt(e.type().bits(), lanes), lsb);
    const Expr inside = Call::make(t.with_lanes(lanes), Intrinsic::extract_bits, {e, position});
    const auto constant = as_const_int(lsb);
    if (lsb.type().is_uint() || (constant && *constant >= 0)) {
        return inside;
    }
    const Expr below = extract_bits_from_below(t, e, lsb);
    return constant ? below : select(lsb < make_zero(lsb.type()), below, inside);
}

Expr concat_bits(const std::vector<Expr> &e) {
    const size_t n = e.size();
    user_assert(n == 1 || n == 2 || n == 4 || n == 8)
        << "concat_bits of " << n << " values, must be 1, 2, 4 or 8";
    for (const Expr &part : e) {
        check_integer("concat_bits", part);
        user_assert(part.type() == e[0].type()) << "concat_bits of types " << e[0].type() << " and "
                                                << part.type() << ", must be one type";
    }
    const Type t = e[0].type();
    user_assert(t.bits() * n <= 64)
        << "concat_bits of " << n << " values of " << t.bits() << " bits, must be at most 64 bits";
    return n == 1 ? e[0] : Call::make(t.with_bits(t.bits() * int(n)), Intrinsic::concat_bits, e);
}

}  // namespace calotype
