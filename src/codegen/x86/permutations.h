// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lanes of several vectors, after all other optimisation.
#pragma once

#include <llvm/IR/Module.h>

#include "target/target.h"

namespace calotype::internal {

/// Two vectors of half a register that are interleaved take one permutation of AVX-512. LLVM does not see that
/// what lies above them does not count: it first moves both into both halves of registers, or makes their elements
/// wider by zeros, or interleaves lower and upper parts by themselves.
///     shuffle <8 x float> a, b, <0, 8, 1, 9, ...>      ->      vpermi2ps of 16 lanes
void interleave_by_permutation(llvm::Module &module, const Target &target);

/// Bytes taken out of three registers, as a channel of pixels is, and made wider: each half is taken out of two of them.
/// LLVM takes the whole out of all three, in two steps that wait for each other, and then the halves out of that.
///     zext (shuffle a, b, c)      ->      zext (shuffle a, b), zext (shuffle b, c)
void widen_halves_of_channels(llvm::Module &module, const Target &target);

}  // namespace calotype::internal
