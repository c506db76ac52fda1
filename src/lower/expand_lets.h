// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values in the place of the lets around, for passes that ask what an index comes from.
#pragma once

#include "ir/expr.h"
#include "support/scope.h"

namespace calotype::internal {

/// e with the values of variables in the place of them, and of variables in these values, until
/// none is left or the result would be repetitive and have more than `small` nodes. Names must mean
/// one thing each. Differences of lets may cancel in what simplify makes of it.
Expr expand_lets(Expr e, const Scope<Expr> &values, int small = 2048);

}  // namespace calotype::internal
