// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of the halves of lanes, for which NEON has one instruction.
#pragma once

#include <llvm/IR/Module.h>

namespace calotype::internal {

///     %low = and <8 x i16> %w, splat (i16 255)        ->      %s = uaddlp <16 x i8> (bitcast %w)
///     %high = lshr <8 x i16> %w, splat (i16 8)                add %x, %s
///     add (add %low, %x), %high
///
/// Wherever the two stand in a sum: bytes at even and odd places that are added are such halves.
void add_halves_in_pairs(llvm::Module &module);

}  // namespace calotype::internal
