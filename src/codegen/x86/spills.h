// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where vectors lie that registers have no room for.
#pragma once

#include "target/target.h"

namespace llvm {
class Module;
}

namespace calotype::internal {

/// Lets functions that keep more vectors than there are registers have their frames at a multiple of a
/// vector's size. LLVM does so for variables in memory alone: when it runs out of registers, it is
/// too late for it to ask for that, and each vector lies across two lines of the cache.
void align_spills(llvm::Module &module, const Target &target);

}  // namespace calotype::internal
