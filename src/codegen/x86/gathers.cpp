// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/x86/gathers.h"

#include <algorithm>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

namespace calotype::internal {

namespace {

bool is_in_address(const llvm::Use &use) {
    return llvm::isa<llvm::GetElementPtrInst>(use.getUser());
}

bool is_non_negative_index(const llvm::Instruction &i) {
    const auto *extension = llvm::dyn_cast<llvm::ZExtInst>(&i);
    return extension && extension->hasNonNeg() && extension->getType()->isVectorTy() &&
           extension->getSrcTy()->getScalarSizeInBits() == 32 &&
           extension->getDestTy()->getScalarSizeInBits() == 64 &&
           std::any_of(i.use_begin(), i.use_end(), is_in_address);
}

}  // namespace

void extend_indices_with_sign(llvm::Module &module) {
    for (llvm::Function &function : module) {
        for (llvm::BasicBlock &block : function) {
            for (llvm::Instruction &i : block) {
                if (is_non_negative_index(i)) {
                    llvm::IRBuilder<> b(&i);
                    llvm::Value *extended = b.CreateSExt(i.getOperand(0), i.getType());
                    i.replaceUsesWithIf(extended, is_in_address);
                }
            }
        }
    }
}

}  // namespace calotype::internal
