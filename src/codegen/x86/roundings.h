// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floats rounded to integers without SSE4.1, which has instructions for it.
#pragma once

#include "codegen/llvm/emitter.h"

namespace calotype::internal {

/// Whether an intrinsic rounds, and the target has no instruction for it: LLVM calls a function of the C library for each lane.
bool x86_rounds_by_sums(const Target &target, const Call *op);

/// round, floor, ceil and trunc of float32 and float64, with the signs of zeros: the sum of a number below 2^23 (2^52) and
/// that power of two has no bits for a fraction.
///
///     round(x)      ->      |x| < 2^23 ? copysign((|x| + 2^23) - 2^23, x) : x
llvm::Value *x86_round_by_sums(FunctionEmitter &f, const Call *op);

}  // namespace calotype::internal
