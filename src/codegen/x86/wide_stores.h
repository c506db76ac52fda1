// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stores of vectors that are wider than a register.
#pragma once

#include "target/target.h"

namespace llvm {
class Module;
}

namespace calotype::internal {

/// Makes one store for each register of such a vector, the first first. LLVM splits wide stores too, but may begin with the
/// last part. Where rows are not aligned each part lies across two lines of the cache: in order, the parts that
/// share a line are written to it together.
void store_registers_in_order(llvm::Module &module, const Target &target);

}  // namespace calotype::internal
