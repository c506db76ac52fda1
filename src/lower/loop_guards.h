// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The conditions without which a loop's iterations do nothing.
#pragma once

#include <vector>

#include "arith/interval.h"
#include "ir/stmt_nodes.h"

namespace calotype::internal {

/// The conditions that all of a loop's body is under, or that its stores only change something under, taken apart.
struct LoopGuards {
    Interval range;  ///< of the loop's variable: outside, iterations do nothing
    std::vector<Expr>
        fixed;  ///< without which none does anything; the first ones may be needed for the others to be asked
    Stmt body;  ///< under the conditions that are left
};

/// `may_hoist`: a condition that does not depend on the iteration counts as fixed, and conditions may read inputs.
/// `finite_floats`: a product with zero is zero, whatever its other factor is.
LoopGuards find_guards(const For *loop, bool may_hoist, bool finite_floats);

}  // namespace calotype::internal
