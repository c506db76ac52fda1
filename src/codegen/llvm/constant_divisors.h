// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floats divided by constants, after all other optimisation: a division left until then has no
// multiplication beside it that took up the constant.
#pragma once

#include <llvm/IR/Module.h>

namespace calotype::internal {

/// Divisions of float and double by constants, where operations may be reassociated, become two
/// multiplications, of which a machine with fused multiply-add adds the second for nothing.
///     x / 65535  ->  fma(x, high, x * low)
/// Quotients that are floats stay exact, but for those near the smallest ones (2^-102 for float,
/// 2^-969 for double), which may be the neighbour; and those of infinities stay infinite.
void multiply_for_constant_divisors(llvm::Module &module);

}  // namespace calotype::internal
