// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Divisions by constants, as LLVM finds instructions of NEON for them.
#pragma once

#include <llvm/IR/Module.h>

namespace calotype::internal {

///     udiv <16 x i16> %x, splat (i16 255)     ->      udiv <8 x i16> (lower half of %x), splat (i16 255)
///                                                     udiv <8 x i16> (upper half of %x), splat (i16 255)
///
/// Of a register LLVM makes products; vectors of more bytes or halves of words than a register holds it would divide
/// lane by lane.
void divide_by_registers(llvm::Module &module);

}  // namespace calotype::internal
