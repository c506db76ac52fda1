// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Questions about all lanes of a vector at once, answered by a scalar. Helpers of vectorize_loops and
// partition_loops.
#pragma once

#include "ir/expr.h"

namespace calotype::internal {

/// True where each lane of the Bool vector is: `ramp(x, 1, 8) < x8(n)` gives `x + 7 < n`. Without
/// likely().
Expr all_lanes(const Expr &condition);
/// A scalar that is true only where each lane is, and may be false even so where lanes have no order:
/// `ramp(x, 1, 8) / 2 + ramp(x, 1, 8) % 2 < x8(n)` gives `(x + 7) / 2 + 1 < n`. Without likely().
Expr surely_all_lanes(const Expr &condition);
/// True where some lane of the Bool vector is: `ramp(x, 1, 8) < x8(n)` gives `x < n`. Without
/// likely().
Expr any_lane(const Expr &condition);
/// The largest lane of an integer vector.
Expr largest_lane(const Expr &e);

/// Each lane `factor` times: (a, b) gives (a, a, b, b) for 2. A scalar is broadcast.
Expr repeat_lanes(const Expr &e, int factor);

}  // namespace calotype::internal
