// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vectors of integers made narrower by the instructions that saturate.
#pragma once

#include "codegen/llvm/emitter.h"

namespace calotype::internal {

/// A vector of 16 or 32-bit integers in the narrower type, 8 or 16 bits wide, whose limits its values do not exceed;
/// null if the target has no such instructions, or cuts off bits by one as well. Without them the upper bits of each
/// lane are masked first. They are called by their names, as LLVM makes another minimum of one that it knows to be of
/// values that are not negative, and that is not the instruction's any more.
llvm::Value *x86_packed(FunctionEmitter &f, llvm::Value *v, Type to);

}  // namespace calotype::internal
