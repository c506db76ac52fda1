// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// leave_chains_of_loops: keeps LLVM from taking very long for loops whose ends depend on each other.
#pragma once

#include <llvm/IR/PassInstrumentation.h>

namespace calotype::internal {

///     for (a, 0, n)  for (b, 0, min(p - a * 2, 2))  for (c, 0, min(q - (a * 2 + b) * 2, 2))  ...
///
/// In nests in which more than a few loops have such an end, the pass that makes loop variables wider is left out.
void leave_chains_of_loops(llvm::PassInstrumentationCallbacks &instrumentation);

}  // namespace calotype::internal
