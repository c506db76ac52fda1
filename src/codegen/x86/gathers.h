// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Indices of gathers, after all other optimisation.
#pragma once

#include <llvm/IR/Module.h>

namespace calotype::internal {

/// Indices of 32 bits that are not negative are extended with their sign, as the instruction does: where LLVM has zeros
/// in its place, it makes them 64 bits wide first, and gathers half as many at a time.
void extend_indices_with_sign(llvm::Module &module);

}  // namespace calotype::internal
