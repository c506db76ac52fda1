// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fixed-point intrinsics in terms of plain operators.
#pragma once

#include "ir/expr_nodes.h"

namespace calotype::internal {

/// An expression with the same value, computed in a type wide enough that nothing wraps on the way:
/// `halving_add(a, b)` on uint8  ->  `uint8((uint16(a) + uint16(b)) / 2)`. Undefined if the call is
/// not such an intrinsic, or no wider type exists (the operands have 64 bits). The result may
/// contain simpler ones of them again.
Expr expand_fixed_point(const Call *op);

/// The value whose saturation to an integer type `to` is e, a clamp to the limits of that type; undefined if e is none.
/// The simplifier moves constants out of clamps:
///
///     max(min(x / 4, 252), -3) + 3        ->      x / 4 + 3           for uint8, with x int32
Expr value_before_saturation(const Expr &e, Type to);

}  // namespace calotype::internal
