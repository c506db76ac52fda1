// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which float32 values can be rounded to bfloat16 without asking whether they are NaN.
#pragma once

#include <llvm/IR/Value.h>

namespace calotype::internal {

/// True if every NaN that the float32 value, or a lane of it, may be has zeros in the half that
/// bfloat16 lacks: rounding adds at most 0x8000 to such bits, and they stay a NaN. That holds for
/// arithmetic on values that were widened from bfloat16, where the machine gives the NaN of an
/// operand or one without a payload. Other NaNs may round to infinity, or to zero.
bool has_nans_of_bfloat16(const llvm::Value *value);

}  // namespace calotype::internal
