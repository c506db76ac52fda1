// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Atomic updates of one place by all lanes of a warp.
#pragma once

#include <llvm/IR/Module.h>

namespace calotype::internal {

/// To be called before optimisation.
///
/// Lanes that update the same element one after the other wait for each other 32 times. Where the place is the same in
/// all threads of a block, and all lanes of a warp are there, they combine their values first, in five exchanges, and
/// one of them updates:
///
///     atomicrmw fadd p, x                    if (activemask() == ~0) {
///                                              x += shfl_bfly(x, 16); ... x += shfl_bfly(x, 1);
///                                    ->        if (lane == 0) atomicrmw fadd p, x
///                                            } else {
///                                              atomicrmw fadd p, x
///                                            }
///
/// For sums, minima and maxima of 32 and 64 bits whose old value nobody reads.
void update_once_a_warp(llvm::Module &module);

}  // namespace calotype::internal
