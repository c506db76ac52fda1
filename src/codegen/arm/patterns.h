// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expressions that NEON has an instruction for which LLVM does not find by itself.
#pragma once

#include "codegen/llvm/emitter.h"

namespace calotype::internal {

/// The value of the expression if a pattern of the target matches it, else null.
llvm::Value *match_arm_call(FunctionEmitter &f, const Call *op);
llvm::Value *match_arm_sum(FunctionEmitter &f, const Add *op);
llvm::Value *match_arm_reduction(FunctionEmitter &f, const VectorReduce *op);

}  // namespace calotype::internal
