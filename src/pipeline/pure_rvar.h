// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// is_pure_rvar: whether the iterations of a reduction variable are independent.
#pragma once

#include <string>

#include "pipeline/definition.h"

namespace calotype::internal {

/// True if it can be shown that no two iterations of the update `d` of Func `func` that differ in
/// RVar `rvar` touch the same element: the loop over it may then run in any order.
bool is_pure_rvar(const Definition &d, const std::string &func, const std::string &rvar);

}  // namespace calotype::internal
