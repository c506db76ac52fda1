// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Simplification where floats are taken to be neither NaN nor infinite.
#pragma once

#include "arith/simplify.h"

namespace calotype::internal {

/// simplify(), with the rules that hold of finite floats alone: x * 0.0 is 0, as are 0.0 / x and
/// x - x, and x == x is true. For code without strict_float; strict_... intrinsics stay as they are.
Stmt simplify_finite(const Stmt &s);
Expr simplify_finite(const Expr &e);

}  // namespace calotype::internal
