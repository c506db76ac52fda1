// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of two products, after all other optimisation, for machines with fused multiply-add.
#pragma once

#include <llvm/IR/Module.h>

namespace calotype::internal {

/// Of a * b + c * d, where operations may be contracted, one product is computed first and the other
/// goes into the fused multiply-add: instruction selection takes the left one. That becomes the
/// product whose factors are there later, so that a recurrence waits for one instruction a step:
///     x1 = a * in1 + b * x0        ->      x1 = b * x0 + a * in1         fma(b, x0, a * in1)
void put_late_products_first(llvm::Module &module);

}  // namespace calotype::internal
