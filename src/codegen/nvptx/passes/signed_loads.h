// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads of small signed integers extend their signs.
#pragma once

#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

namespace calotype::internal {

/// To be called after all optimisation, right before instruction selection.
///
/// LLVM 19 has no load through the read-only cache that extends a sign, but one of an unsigned number and an
/// instruction that makes it signed, which the assembler leaves in:
///
///     ld.global.nc.u8 %rs1, [%rd1];
///     cvt.s32.s8      %r1, %rs1;         ->        ld.global.nc.s8 %r1, [%rd1];
///
/// A filter of bytes executes a third more instructions with it. Loads that are not read-only are fine in LLVM.
void extend_signs_in_loads(llvm::Module &module);

/// Whether a load is of an argument whose memory nothing writes while the kernel runs.
bool reads_unwritten_argument(const llvm::LoadInst &load);

}  // namespace calotype::internal
