// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From IR types to LLVM types. 16-bit floats are held as i16 and computed with as float32; bools
// are i1 in registers and one byte in memory.
#pragma once

#include <llvm/IR/DerivedTypes.h>

#include "ir/type.h"

namespace calotype::internal {

/// The type of a value in registers.
llvm::Type *llvm_type(llvm::LLVMContext &context, Type t);

/// The type of the same value in memory and in structs: differs for bools only.
llvm::Type *llvm_memory_type(llvm::LLVMContext &context, Type t);

/// Lanes of an LLVM value's type: 1 for scalars.
int lanes_of(const llvm::Type *t);

/// The same element type with another number of lanes; 1 gives the scalar.
llvm::Type *with_lanes(llvm::Type *t, int lanes);

}  // namespace calotype::internal
