// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vectors whose lanes are all the same.
#pragma once

#include <llvm/IR/Value.h>

namespace calotype::internal {

/// What all lanes are; null if they may differ. LLVM may have it as a lane of another vector, which is taken out of that then.
llvm::Value *value_of_all(llvm::Value *v);

}  // namespace calotype::internal
