// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Choices that an iteration of a loop waits for.
#pragma once

#include <llvm/IR/Module.h>

namespace calotype::internal {

/// Where what comes round a loop is changed or not, as the error that is carried to the next pixel, both results are computed
/// while it is decided which one to take:
///     %c = icmp sgt i16 %v, 127
///     %d = select i1 %c, i16 255, i16 0    ->      %s = sub i16 %v, 255
///     %r = sub i16 %v, %d                          %r = select i1 %c, i16 %s, i16 %v
/// LLVM's own form is the first one, so this is done last of all.
void compute_both_choices(llvm::Module &module);

}  // namespace calotype::internal
