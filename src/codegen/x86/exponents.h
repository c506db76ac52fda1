// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instructions of AVX-512 for the exponents of float32 and float64 vectors. Scalars go without: LLVM makes no vectors of a
// loop with such intrinsics.
#pragma once

#include "codegen/llvm/emitter.h"

namespace calotype::internal {

/// Whether there are such instructions for values of the type.
bool x86_has_exponents(const Target &target, Type t);
/// x * 2^n
llvm::Value *x86_scaled(FunctionEmitter &f, llvm::Value *x, llvm::Value *n, Type t);
/// |x| = 2^e * m with m from 1 to 2, of float32 from 3/4 to 3/2.
void x86_split_exponent(FunctionEmitter &f, llvm::Value *x, Type t, llvm::Value **m,
                        llvm::Value **e);

}  // namespace calotype::internal
