// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the rest of the compiler takes for granted of definitions, and the text of a pipeline may get wrong.
#pragma once

#include <string>
#include <vector>

#include "ir/expr.h"
#include "pipeline/function.h"

namespace calotype::internal {

/// A CompileError unless that is true or false.
void check_condition(const Expr &condition, const std::string &whose);

/// A CompileError unless the conditions of d, a definition of f, are true or false, and its loops are those that its
/// arguments, domain and splits make. Its specializations are definitions of their own.
void check_definition_read(const FunctionContents &f, const Definition &d);

}  // namespace calotype::internal
