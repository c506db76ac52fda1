// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/llvm/opaque_choices.h"

#include <algorithm>
#include <vector>

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/ValueTracking.h>
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

/// The storage of Funcs has a lifetime; what else is in the frame is written before it is read.
bool is_storage(const llvm::Value *pointer) {
    const auto *slot = llvm::dyn_cast<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer));
    return slot && std::any_of(slot->user_begin(), slot->user_end(), [](const llvm::User *user) {
               return llvm::isa<llvm::LifetimeIntrinsic>(user);
           });
}

bool has_storage(const llvm::Function &function) {
    return !function.empty() &&
           std::any_of(function.getEntryBlock().begin(), function.getEntryBlock().end(),
                       [](const llvm::Instruction &i) {
                           return llvm::isa<llvm::AllocaInst>(i) && is_storage(&i);
                       });
}

/// Where `i` reads: of loads with and without a mask.
const llvm::Value *pointer_read(const llvm::Instruction &i) {
    if (const auto *load = llvm::dyn_cast<llvm::LoadInst>(&i)) {
        return load->getPointerOperand();
    }
    const auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
    return call && call->getIntrinsicID() == llvm::Intrinsic::masked_load ? call->getArgOperand(0)
                                                                          : nullptr;
}

/// The loads of storage whose values the indices of addresses are made of.
std::vector<llvm::Instruction *> storage_read_by_indices(llvm::Function &function) {
    std::vector<llvm::Instruction *> found, open;
    llvm::SmallPtrSet<const llvm::Instruction *, 32> seen;
    const auto push = [&](llvm::Value *v) {
        auto *i = llvm::dyn_cast<llvm::Instruction>(v);
        if (i && !i->getType()->isPtrOrPtrVectorTy() && seen.insert(i).second) {
            open.push_back(i);
        }
    };
    for (llvm::Instruction &i : llvm::instructions(function)) {
        if (auto *address = llvm::dyn_cast<llvm::GetElementPtrInst>(&i)) {
            std::for_each(address->idx_begin(), address->idx_end(), push);
        }
    }
    while (!open.empty()) {
        llvm::Instruction *i = open.back();
        open.pop_back();
        if (const llvm::Value *pointer = pointer_read(*i)) {
            if (is_storage(pointer)) {
                found.push_back(i);
            }
        } else if (!llvm::isa<llvm::CallInst>(i) || llvm::isa<llvm::IntrinsicInst>(i)) {
            std::for_each(i->value_op_begin(), i->value_op_end(), push);
        }
    }
    return found;
}

}  // namespace

void decide_indices(llvm::Module &module) {
    for (llvm::Function &function : module) {
        if (has_storage(function)) {
            const auto found = storage_read_by_indices(function);
            std::for_each(found.begin(), found.end(), freeze);
        }
    }
}

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
