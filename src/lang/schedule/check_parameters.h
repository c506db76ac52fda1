// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is known before a pipeline runs: expressions of parameters.
#pragma once

#include <string>

#include "ir/expr.h"

namespace calotype::internal {

/// CompileError unless e fits in int32 and its Variables are parameters alone; `what` names it.
void check_int32_of_parameters(const Expr &e, const std::string &what);

}  // namespace calotype::internal
