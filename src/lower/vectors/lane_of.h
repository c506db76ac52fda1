// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Single lanes of vectors as scalar expressions. Helper of flatten_ramps.
#pragma once

#include <string>

#include "ir/expr.h"

namespace calotype::internal {

/// Lane i, computed by itself as far as that is another operation on scalars:
///
///     f[ramp(x, 1, 4)] + y4(y), lane 2     ->      f[x + 2] + y
Expr lane_of(const Expr &vector, int i);

/// `let name = value in body`, by lanes where only single lanes of it are used.
Expr let_of_lanes(const std::string &name, const Expr &value, const Expr &body);

}  // namespace calotype::internal
