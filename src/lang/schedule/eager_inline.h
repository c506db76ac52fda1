// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// inline_calls: put the definition of a pure Func in place of its calls.
#pragma once

#include "pipeline/function.h"

namespace calotype::internal {

/// In all expressions of the definition. A CompileError if f has updates, specializations or an
/// extern definition.
void inline_calls(const Function &f, Definition &definition);

}  // namespace calotype::internal
