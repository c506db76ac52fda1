// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bit operations on integers. Two operands are brought to the wider width of the two; where they
// differ in signedness the result has the type of the first. Include ir/operators.h.
#pragma once

#include <utility>
#include <vector>

#include "ir/expr.h"

namespace calotype {

Expr operator&(Expr x, Expr y);
Expr operator&(Expr x, int y);
Expr operator&(int x, Expr y);
Expr operator|(Expr x, Expr y);
Expr operator|(Expr x, int y);
Expr operator|(int x, Expr y);
Expr operator^(Expr x, Expr y);
Expr operator^(Expr x, int y);
Expr operator^(int x, Expr y);
Expr operator~(Expr x);

/// Shifts have the type of x. A negative y shifts the other way; |y| must be less than the bits of
/// x. The shift right of a signed integer keeps the sign.
Expr operator<<(Expr x, Expr y);
Expr operator<<(Expr x, int y);
Expr operator>>(Expr x, Expr y);
Expr operator>>(Expr x, int y);

/// How many bits are one.
Expr popcount(Expr x);
/// How many bits are zero above the highest one, below the lowest one. Unspecified for zero.
Expr count_leading_zeros(Expr x);
Expr count_trailing_zeros(Expr x);

/// C's integer division and remainder. Unlike / and %, undefined for y == 0.
Expr div_round_to_zero(Expr x, Expr y);
Expr mod_round_to_zero(Expr x, Expr y);

/// The bits of e from bit `lsb` up, as a t; bits beyond those of e are zero.
Expr extract_bits(Type t, const Expr &e, const Expr &lsb);
template<typename T>
Expr extract_bits(const Expr &e, const Expr &lsb) {
    return extract_bits(type_of<T>(), e, lsb);
}
/// An integer of all the bits, the first value lowest. There must be 1, 2, 4 or 8 values of one
/// type.
Expr concat_bits(const std::vector<Expr> &e);

}  // namespace calotype
