// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of bytes are computed in the type of the sum that they are for.
#pragma once

#include <llvm/IR/Module.h>

namespace calotype::internal {

/// To be called before optimisation.
///
/// A product of bytes fits 16 bits, in which programs for processors with vectors write it. A thread has one
/// instruction that multiplies and adds 32 bits, and none that does so with 16:
///
///     sext i32 (mul i16 (zext a), (sext b))        ->        mul i32 (zext a), (sext b)
///
/// LLVM does so by itself only while nothing else uses the extended factors.
void widen_products(llvm::Module &module);

}  // namespace calotype::internal
