// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Addresses of loops, of which a part is the same in all iterations.
#pragma once

#include <llvm/IR/Module.h>

namespace calotype::internal {

/// The part of an index that a loop does not change is added to the address before the loop, where the other part is a
/// value that was read, as in a table with a row for each channel:
///
///     loop: %i = or disjoint i64 %row, %value         ->     %q = getelementptr i32, ptr %p, i64 %row
///           %a = getelementptr i32, ptr %p, i64 %i           loop: %a = getelementptr i32, ptr %q, i64 %value
///
/// LLVM does so with sums, but writes those whose parts have no bits in common as `or`, which no address mode holds.
void hoist_uniform_offsets(llvm::Module &module);

}  // namespace calotype::internal
