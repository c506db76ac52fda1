// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The first lanes of vectors of 8 or 16 bits, where the processor has no masks for such lanes.
#pragma once

#include "target/target.h"

namespace llvm {
class Module;
}

namespace calotype::internal {

/// Loads and stores of narrow lanes whose mask takes the first `n` of them:
///
///     masked.load <32 x i8> p, (x + ramp) < end   ->   masked.load <8 x i32> p, words that are whole,
///                                                      and one load for the bytes of the last word
///
/// An end that is taken, too, is another end. AVX and AVX2 have masks for lanes of 32 bits alone; LLVM tests each
/// lane and accesses it by itself. Without AVX there are no masks: registers that are whole are loaded as
/// such, and the last bytes by two loads of 8 or 4 that overlap, or byte by byte; stores are from a vector in the frame, in pieces
/// of 1, 2, 4, ... bytes. A load of what was just stored in pieces would wait for them.
void access_leading_lanes_by_words(llvm::Module &module, const Target &target);

}  // namespace calotype::internal
