// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accesses under a mask that the processor has no instruction for.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace calotype::internal {

/// One branch: if the mask leaves nothing out, all lanes are accessed as without it; if not, each lane is accessed where it
/// stands or, if the mask leaves it out, in the frame:
///
///     store <2 x i8> %value, ptrs <%p, %q>, mask <%m, %n>
///     ->
///     if (%m && %n) { store i8 %value0, %p; store i8 %value1, %q }
///     else { store i8 %value0, (%m ? %p : %nowhere); store i8 %value1, (%n ? %q : %nowhere) }
///
/// Where a function has few of them, masks that repeat, as those of the last vector of each row, are left to LLVM.
///
/// LLVM makes two blocks of each lane. Register allocation takes as long as there are blocks times values that
/// live through them, and no processor foresees so many branches on data. Last of all: until then the access is one instruction.
void access_lanes_without_branches(llvm::Module &module, llvm::TargetMachine &machine);

}  // namespace calotype::internal
