// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A quick, structural proof of order between expressions of the same shape.
#pragma once

#include "ir/expr.h"

namespace calotype::internal {

/// True only if a <= b for all values of their variables. Made for what the simplifier keeps apart,
/// as the ends of neighbouring taps: max(min(x, n), 0) <= max(min(x + 1, n), 0). Looks at a bounded
/// number of nodes. False for types that wrap, unless the two are the same.
bool known_less_equal(const Expr &a, const Expr &b);

}  // namespace calotype::internal
