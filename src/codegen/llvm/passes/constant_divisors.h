// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floats divided by constants.
#pragma once

#include <llvm/IR/Module.h>

namespace calotype::internal {

/// Before all other optimisation: of quotients by constants that are only added, subtracted and multiplied, where these
/// operations may be reassociated, the constants may be too. What is made of them is rounded again in any case.
///     x / 9 + y / 9  ->  (x + y) * (1 / 9)
void let_sums_take_reciprocals(llvm::Module &module);

/// After all other optimisation: a division left until then has no multiplication beside it that took up the constant.
/// Divisions of float and double by constants, where operations may be reassociated, become two
/// multiplications, of which a machine with fused multiply-add adds the second for nothing.
///     x / 65535  ->  fma(x, high, x * low)
/// Quotients that are floats stay exact, but for those near the smallest ones (2^-102 for float,
/// 2^-969 for double), which may be the neighbour; and those of infinities stay infinite.
void multiply_for_constant_divisors(llvm::Module &module);

}  // namespace calotype::internal
