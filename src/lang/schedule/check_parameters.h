// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks of expressions that must be known before a pipeline runs: those of parameters alone.
#pragma once

#include <string>

#include "ir/expr.h"

namespace calotype::internal {

/// CompileError unless e fits in int32 and its Variables are parameters alone; `what` names it.
void check_int32_of_parameters(const Expr &e, const std::string &what);

}  // namespace calotype::internal
