// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/x86/gathers.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

namespace calotype::internal {

namespace {

bool is_non_negative_index(const llvm::Instruction &i) {
    const auto *extension = llvm::dyn_cast<llvm::ZExtInst>(&i);
    return extension && extension->hasNonNeg() && extension->getType()->isVectorTy() &&
           extension->getSrcTy()->getScalarSizeInBits() == 32 &&
           extension->getDestTy()->getScalarSizeInBits() == 64;
}

}  // namespace

void extend_indices_with_sign(llvm::Module &module) {
    for (llvm::Function &function : module) {
        for (llvm::BasicBlock &block : function) {
            for (llvm::Instruction &i : llvm::make_early_inc_range(block)) {
                if (is_non_negative_index(i)) {
                    llvm::IRBuilder<> b(&i);
                    i.replaceAllUsesWith(b.CreateSExt(i.getOperand(0), i.getType()));
                    i.eraseFromParent();
                }
            }
        }
    }
}

}  // namespace calotype::internal
