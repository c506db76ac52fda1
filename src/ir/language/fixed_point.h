// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fixed-point operations: each is computed exactly, as if in a wider type, and then
// brought to the type it is said to have. Include ir/operators.h.
#pragma once

#include <utility>

#include "ir/expr.h"

namespace calotype {

/// The value of t nearest to e.
Expr saturating_cast(Type t, Expr e);
template<typename T>
Expr saturating_cast(Expr e) {
    return saturating_cast(type_of<T>(), std::move(e));
}

/// a op b, where b has half the bits of a; the type of a.
Expr widen_right_add(Expr a, Expr b);
Expr widen_right_mul(Expr a, Expr b);
Expr widen_right_sub(Expr a, Expr b);

/// a op b in twice the bits. A difference is signed; a product is signed if a factor is. Of floats:
/// in float32 for either kind of 16 bits, and in float64 for float32.
Expr widening_add(Expr a, Expr b);
Expr widening_mul(Expr a, Expr b);
Expr widening_sub(Expr a, Expr b);

/// a << b and a >> b in twice the bits of a.
Expr widening_shift_left(Expr a, Expr b);
Expr widening_shift_left(Expr a, int b);
Expr widening_shift_right(Expr a, Expr b);
Expr widening_shift_right(Expr a, int b);

/// Shifts in the type of a that round to nearest, ties up, where they shift to the right.
Expr rounding_shift_left(Expr a, Expr b);
Expr rounding_shift_left(Expr a, int b);
Expr rounding_shift_right(Expr a, Expr b);
Expr rounding_shift_right(Expr a, int b);

/// a op b, brought to the nearest value of their type.
Expr saturating_add(Expr a, Expr b);
Expr saturating_sub(Expr a, Expr b);

/// (a + b) / 2 and (a - b) / 2 rounded down; rounding_halving_add rounds up.
Expr halving_add(Expr a, Expr b);
Expr rounding_halving_add(Expr a, Expr b);
Expr halving_sub(Expr a, Expr b);

/// a * b >> q, brought to the nearest value of the type of a, rounded down or to nearest. q is less
/// than twice the bits.
Expr mul_shift_right(Expr a, Expr b, Expr q);
Expr mul_shift_right(Expr a, Expr b, int q);
Expr rounding_mul_shift_right(Expr a, Expr b, Expr q);
Expr rounding_mul_shift_right(Expr a, Expr b, int q);

}  // namespace calotype
