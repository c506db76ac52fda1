// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a value costs, in operations on the target's registers. Helper of split_lanes and
// narrow_lanes.
#pragma once

#include "ir/expr.h"
#include "target/target.h"

namespace calotype::internal {

/// Operations on registers that the value takes, without what is scalar. What occurs more than once
/// must be one node.
int count_work(const Expr &e, const Target &target);

}  // namespace calotype::internal
