// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The range of a loop in which its likely conditions hold, and the loop's body there. Helper of
// partition_loops.
#pragma once

#include "arith/interval.h"
#include "ir/stmt_nodes.h"

namespace calotype::internal {

/// The iterations in which all conditions that were dropped from `body` hold, if there are any.
struct SteadyState {
    Interval range;  ///< in terms of what is defined outside of the loop; an end may be missing: no
                     ///< limit there
    Expr condition;  ///< what else must hold, the same in all iterations; undefined: nothing
    Stmt body;       ///< equivalent to the loop's body in these iterations
    bool found = false;
};

SteadyState find_steady_state(const For *loop);

}  // namespace calotype::internal
