// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// check_is_not_scheduled: an autoscheduler writes whole schedules.
#pragma once

#include "pipeline/function.h"

namespace calotype::internal {

/// A CompileError that names the Func and what was said of its loops or its place. What concerns
/// storage and checks (bounds, estimates, the order and type of memory, memoize, traces) may be
/// there.
void check_is_not_scheduled(const Function &f);

}  // namespace calotype::internal
