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

/// A register of bytes out of four registers, where one instruction takes any bytes out of two. Of a channel of pixels each half
/// is taken out of two, where LLVM permutes within all four and joins what is left. Four vectors in turns are halves of
/// registers, which are joined in pairs and permuted once, where they were interleaved twice.
///     shuffle a, b, c, d, <0, 4, 8, ...>      ->      vpermi2b a, b; vpermi2b c, d
///     a0 b0 c0 d0 a1 ...      ->      vpermi2b (lower a, lower b), (lower c, lower d)
void permute_bytes_of_four(llvm::Module &module, const Target &target);

/// Bytes that are loaded and of which shuffles take channels are hidden from LLVM's pass for interleaved accesses, where one
/// instruction takes any bytes out of two registers. That pass takes them out of registers of 128 bits.
///     shuffle (load a), <0, 3, 6, ...>      ->      shuffle (freeze (load a)), <0, 3, 6, ...>
void keep_channels_for_permutations(llvm::Module &module, const Target &target);

}  // namespace calotype::internal
