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

}  // namespace calotype::internal
