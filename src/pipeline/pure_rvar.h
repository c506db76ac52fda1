// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// is_pure_rvar: whether the iterations of a reduction variable are independent.
#pragma once

#include <string>

#include "pipeline/definition.h"

namespace calotype::internal {

/// True if it can be shown that no two iterations of the update `d` of Func `func` that differ in
/// RVar `rvar` touch the same element: the loop over it may then run in any order.
bool is_pure_rvar(const Definition &d, const std::string &func, const std::string &rvar);

/// True if it can be shown that the update gives the same in whatever order its iterations run: it
/// combines values by an operator that commutes (float sums count as such), or sets what it stores
/// to a value that is the same in all of them.
bool iterations_commute(const Definition &d, const std::string &func);

}  // namespace calotype::internal
