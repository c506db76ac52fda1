// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Indices of gathers, after all other optimisation.
#pragma once

#include <llvm/IR/Module.h>

namespace calotype::internal {

/// Indices of 32 bits that are not negative are extended with their sign, as the instruction does: where LLVM has zeros
/// in its place, it makes them 64 bits wide first, and gathers half as many at a time.
void extend_indices_with_sign(llvm::Module &module);

/// Two indices of 32 bits that are taken out of a vector together, as 64 bits, are hidden from LLVM's instruction
/// selection. Of a number of which it knows that all but a few low bits of the lower half are zero, LLVM 19 takes the lower
/// half by a mask of so many bits, relies on the mask for the upper half, and drops it since it does nothing
/// for the lower one:
///
///     %pair = <9, 9>    ->    movq %xmm0, %rdx; movzwl (%rax,%rdx,2)    an element 38654705664 too far
void hide_index_pairs(llvm::Module &module);

}  // namespace calotype::internal
