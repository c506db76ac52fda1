// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions behind the rows of llvm/intrinsics.def.
#pragma once

#include "codegen/llvm/emitter.h"

namespace calotype::internal {

// One declaration a row; functions that serve several rows are declared more than once.
#define EMIT(name, function) llvm::Value *function(FunctionEmitter &f, const Call *op);
#include "codegen/llvm/intrinsics.def"

/// True if a row of the table is for it; legalize/ expands the others.
bool has_emission(const Call *op);

/// Room for "int32_t values[n]" at `p`: the address of element i.
llvm::Value *int32_address(FunctionEmitter &f, llvm::Value *p, llvm::Value *i);

}  // namespace calotype::internal
