// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of what comes round a loop, after all other optimisation.
#pragma once

#include <llvm/IR/Module.h>

namespace calotype::internal {

/// Of a * b + c * d, where operations may be contracted, one product is computed first and the other
/// goes into the fused multiply-add: instruction selection takes the left one. That becomes the
/// product whose factors are there later, so that a recurrence waits for one instruction a step:
///     x1 = a * in1 + b * x0        ->      x1 = b * x0 + a * in1         fma(b, x0, a * in1)
void put_late_products_first(llvm::Module &module);

/// Of a sum that may be reassociated, what comes round a loop is added last, so that a recurrence waits for that alone. Not where
/// it would take an operation more, as with a sum of products that is added to an accumulator.
///     y1 = b * y0 + c * x + d * z  ->      y1 = (c * x + d * z) + b * y0
void add_late_terms_last(llvm::Module &module);

}  // namespace calotype::internal
