// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vectors that go from one block to another.
#pragma once

#include <llvm/IR/Module.h>

#include "target/target.h"

namespace calotype::internal {

/// Vectors of 3, 12, 48, ... lanes go from block to block as the next power of two, and masks of more lanes than a register
/// has bytes as bytes, if there are no registers for masks:
///
///     %a = ...                                    ->      %a = ...; %c = shufflevector <48 x i16> %a to <64 x i16>
///     other: use <48 x i16> %a                    ->      other: %b = shufflevector <64 x i16> %c to <48 x i16>; use %b
///
///     %m = phi <32 x i1> [%a, ...], [%b, ...]     ->      %c = phi <32 x i8> [sext %a, ...], [sext %b, ...]
///                                                         %m = icmp slt <32 x i8> %c, zeroinitializer
///
/// Between blocks LLVM carries each lane of them in a register of its own, within a block it does not.
void carry_whole_registers(llvm::Module &module, const Target &target);

}  // namespace calotype::internal
