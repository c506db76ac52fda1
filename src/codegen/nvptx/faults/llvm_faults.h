// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instructions that LLVM makes wrong PTX of are replaced by others of the same value.
#pragma once

#include <llvm/IR/Module.h>

namespace calotype::internal {

/// To be called after all optimisation, right before instruction selection.
///
/// LLVM 19 loads 16 bytes at once of a vector of bytes, whatever the alignment it is told; a machine
/// that is asked to do so elsewhere than at a multiple of 16 ends the kernel. Of vectors of bytes that
/// are aligned to less, eight at most are loaded at a time, which LLVM does as their alignment allows.
void avoid_llvm_faults(llvm::Module &module);

}  // namespace calotype::internal
