// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/x86/gathers.h"

#include <algorithm>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
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

/// Whether the lower half of two numbers of a vector is taken by itself.
bool takes_lower_half(const llvm::Instruction &i) {
    const auto *truncation = llvm::dyn_cast<llvm::TruncInst>(&i);
    if (!truncation || !truncation->getType()->isIntegerTy(32) ||
        !truncation->getSrcTy()->isIntegerTy(64)) {
        return false;
    }
    const llvm::Value *pair = truncation->getOperand(0);
    const auto *element = llvm::dyn_cast<llvm::ExtractElementInst>(pair);
    const auto *vector =
        llvm::dyn_cast<llvm::BitCastInst>(element ? element->getVectorOperand() : pair);
    return vector && vector->getSrcTy()->isVectorTy();
}

/// The value by way of an instruction that does nothing.
void hide(llvm::Instruction *value) {
    llvm::IRBuilder<> b(value->getParent(), std::next(value->getIterator()));
    llvm::Type *type = value->getType();
    auto *nothing =
        llvm::InlineAsm::get(llvm::FunctionType::get(type, {type}, false), "", "=r,0", false);
    llvm::Value *hidden = b.CreateCall(nothing, {value});
    value->replaceUsesWithIf(hidden, [&](const llvm::Use &use) { return use.getUser() != hidden; });
}

}  // namespace

void hide_index_pairs(llvm::Module &module) {
    for (llvm::Function &function : module) {
        llvm::SmallVector<llvm::Instruction *> halves;
        for (llvm::Instruction &i : llvm::instructions(function)) {
            if (takes_lower_half(i)) {
                halves.push_back(&i);
            }
        }
        for (llvm::Instruction *half : halves) {
            // Of pairs whose lower half is taken twice, the second is of what is hidden already.
            if (takes_lower_half(*half)) {
                hide(llvm::cast<llvm::Instruction>(half->getOperand(0)));
            }
        }
    }
}

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
