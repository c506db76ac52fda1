// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations on vectors of narrow integers that LLVM does in wider ones.
#pragma once

#include <llvm/IR/Value.h>

#include "ir/expr_nodes.h"
#include "target/target.h"

namespace calotype::internal {

class FunctionEmitter;

/// True if the machine counts the zeros before the first, or after the last, one of vectors of bytes.
bool x86_counts_zeros(const Target &target, const Call *op);
/// count_leading_zeros or count_trailing_zeros of such a vector.
llvm::Value *x86_count_zeros(FunctionEmitter &f, const Call *op);

/// The high halves of the products of vectors of uint16; null for other types.
llvm::Value *x86_high_product(FunctionEmitter &f, llvm::Value *a, llvm::Value *b);

}  // namespace calotype::internal
