// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vectors of integers made narrower by the instructions that saturate.
#pragma once

#include "codegen/llvm/emitter.h"

namespace calotype::internal {

/// Whether vectors of 16 or 32-bit integers become ones of 8 or 16 bits so. Where the target cuts off bits by one
/// instruction as well they do not.
bool x86_packs(const Target &target, Type from, Type to);

/// Where x86_packs(): the vector in the narrower type, whose limits its values do not exceed. Without these instructions the
/// upper bits of each lane are masked first. They are called by their names, as LLVM makes another minimum of one that it
/// knows to be of values that are not negative, and that is not the instruction's any more.
llvm::Value *x86_packed(FunctionEmitter &f, llvm::Value *v, Type to);

}  // namespace calotype::internal
