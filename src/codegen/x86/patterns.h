// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expressions that x86 has an instruction for which LLVM does not find by itself.
#pragma once

#include "codegen/llvm/emitter.h"

namespace calotype::internal {

/// The value of the expression if a pattern of the target matches it, else null.
llvm::Value *match_x86_call(FunctionEmitter &f, const Call *op);
llvm::Value *match_x86_sum(FunctionEmitter &f, const Add *op);
llvm::Value *match_x86_product(FunctionEmitter &f, const Mul *op);
llvm::Value *match_x86_reduction(FunctionEmitter &f, const VectorReduce *op);

/// 1 / v or, with `square_root`, 1 / sqrt(v) of float32 by the instruction for it, to about 12 bits.
llvm::Value *x86_estimate(FunctionEmitter &f, llvm::Value *v, bool square_root);

}  // namespace calotype::internal
