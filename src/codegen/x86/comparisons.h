// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Comparisons of vectors, after all other optimisation.
#pragma once

#include <llvm/IR/Module.h>

namespace calotype::internal {

/// x86 has no instruction that compares unsigned lanes: a is below b if it is not the larger of both, or if b is not
/// the smaller of both. Instruction selection takes the one for `a < b` and the other for `b > a`. Where one of them is
/// needed anyway, as where the place of the smallest value is looked for, the comparison is written so that it serves:
///     smaller = umin(a, b), a < b       ->      smaller = umin(b, a), b > a
void compare_by_known_extremes(llvm::Module &module);

/// Whether the upper bits of lanes are those of the least numbers, or of the greatest, is one comparison of signed lanes. So it
/// is asked where a byte continues a character of UTF-8:
///     (x & 0xc0) == 0x80                ->      x < -64        of bytes with a sign
///     (x & 0xf0) == 0x70                ->      x > 111
void compare_upper_bits_at_once(llvm::Module &module);

}  // namespace calotype::internal
