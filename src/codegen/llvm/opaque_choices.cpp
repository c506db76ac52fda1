// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/llvm/opaque_choices.h"

#include <algorithm>
#include <vector>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

namespace calotype::internal {

namespace {

bool is_choice_or_quotient(const llvm::Instruction &i) {
    switch (i.getOpcode()) {
    case llvm::Instruction::Select:
    case llvm::Instruction::UDiv:
    case llvm::Instruction::SDiv:
    case llvm::Instruction::URem:
    case llvm::Instruction::SRem:
    case llvm::Instruction::LShr:
    case llvm::Instruction::AShr:
        return true;
    default:
        return llvm::isa<llvm::MinMaxIntrinsic>(i);
    }
}

bool is_used_elsewhere(const llvm::Instruction &i) {
    return std::any_of(i.user_begin(), i.user_end(), [&](const llvm::User *user) {
        return llvm::cast<llvm::Instruction>(user)->getParent() != i.getParent();
    });
}

void freeze(llvm::Instruction *i) {
    llvm::IRBuilder<> b(i->getParent(), std::next(i->getIterator()));
    llvm::Value *frozen = b.CreateFreeze(i);
    i->replaceUsesWithIf(frozen, [&](const llvm::Use &use) { return use.getUser() != frozen; });
}

}  // namespace

void make_choices_opaque(llvm::Module &module) {
    for (llvm::Function &function : module) {
        std::vector<llvm::Instruction *> found;
        for (llvm::Instruction &i : llvm::instructions(function)) {
            if (i.getType()->isIntegerTy() && !i.getType()->isIntegerTy(1) &&
                is_choice_or_quotient(i) && is_used_elsewhere(i)) {
                found.push_back(&i);
            }
        }
        std::for_each(found.begin(), found.end(), freeze);
    }
}

}  // namespace calotype::internal
