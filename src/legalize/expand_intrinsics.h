// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Intrinsics in terms of simpler operations of the IR, for languages that have no word for them.
#pragma once

#include <vector>

#include "ir/expr_nodes.h"

namespace calotype::internal {

/// The value of op by operators, casts, selects, shifts by unsigned distances and bitwise
/// operations; undefined if the intrinsic has no such form here. Nothing wider than 64 bits occurs.
/// `args` are its arguments, each a constant or a Variable of a name of its own, as they may occur
/// several times.
Expr expand_intrinsic(const Call *op, const std::vector<Expr> &args);

}  // namespace calotype::internal
