// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls of the runtime's functions, with the types of ir/conventions/runtime_calls.def.
#pragma once

#include "codegen/llvm/emitter.h"
#include "ir/conventions/runtime_calls.h"

namespace calotype::internal {

/// The arguments must be what the function takes. Undefined for a function that returns nothing.
llvm::Value *call_runtime(FunctionEmitter &f, RuntimeFunction function,
                          const std::vector<llvm::Value *> &args);

}  // namespace calotype::internal
