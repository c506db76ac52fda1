// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// For machines whose C functions are given 32 bits in registers of 64 as if they had a sign.
#pragma once

#include <llvm/IR/Module.h>

namespace calotype::internal {

///     declare void @g(i32)            ->      declare void @g(i32 signext)
///     define i32 @f(i32 %x)                   define signext i32 @f(i32 signext %x)
///       call void @g(i32 %y)                    call void @g(i32 signext %y)
///
/// The upper half is the callers' duty for arguments, and the functions' for results.
void pass_signed_words(llvm::Module &module);

}  // namespace calotype::internal
