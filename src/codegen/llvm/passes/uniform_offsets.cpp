// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/llvm/passes/uniform_offsets.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

namespace calotype::internal {

namespace {

/// An index of two parts, of which one is the same in all iterations.
struct SplitIndex {
    llvm::Value *uniform, *varying;
};

/// Is no sum of the loop's counter: strength reduction finds those.
bool is_data(const llvm::Value *value) {
    const auto *cast = llvm::dyn_cast<llvm::CastInst>(value);
    return cast && llvm::isa<llvm::ZExtInst, llvm::SExtInst>(cast) &&
           !llvm::isa<llvm::PHINode>(cast->getOperand(0));
}

std::optional<SplitIndex> split(const llvm::Instruction &i, const llvm::Loop &loop) {
    const auto *sum = llvm::dyn_cast<llvm::PossiblyDisjointInst>(&i);
    if (!sum || !sum->isDisjoint() || !sum->getType()->isIntegerTy(64)) {
        return {};
    }
    llvm::Value *a = sum->getOperand(0), *b = sum->getOperand(1);
    if (loop.isLoopInvariant(b)) {
        std::swap(a, b);
    }
    const bool found = loop.isLoopInvariant(a) && !llvm::isa<llvm::Constant>(a) &&
                       !loop.isLoopInvariant(b) && is_data(b);
    return found ? std::optional(SplitIndex{a, b}) : std::nullopt;
}

/// It is the only index of elements of what the loop does not change.
bool is_address_of(const llvm::User *user, const llvm::Instruction &index, const llvm::Loop &loop) {
    const auto *address = llvm::dyn_cast<llvm::GetElementPtrInst>(user);
    return address && address->getNumIndices() == 1 && address->getOperand(1) == &index &&
           address->getType()->isPointerTy() && loop.contains(address) &&
           loop.isLoopInvariant(address->getPointerOperand());
}

/// Used by addresses of one object alone, so that no more values live through the loop than before.
bool is_only_index(const llvm::Instruction &index, const llvm::Loop &loop) {
    const auto *first =
        index.use_empty() ? nullptr : llvm::dyn_cast<llvm::GetElementPtrInst>(*index.user_begin());
    return first && std::all_of(index.user_begin(), index.user_end(), [&](const llvm::User *user) {
               const auto *address = llvm::dyn_cast<llvm::GetElementPtrInst>(user);
               return is_address_of(user, index, loop) &&
                      address->getPointerOperand() == first->getPointerOperand() &&
                      address->getSourceElementType() == first->getSourceElementType();
           });
}

void hoist(llvm::Instruction &index, const SplitIndex &parts, const llvm::Loop &loop) {
    auto *first = llvm::cast<llvm::GetElementPtrInst>(*index.user_begin());
    llvm::IRBuilder<> before(loop.getLoopPreheader()->getTerminator());
    llvm::Value *base =
        before.CreateGEP(first->getSourceElementType(), first->getPointerOperand(), parts.uniform);
    const std::vector<llvm::User *> users(index.user_begin(), index.user_end());
    for (llvm::User *user : users) {
        auto *address = llvm::cast<llvm::GetElementPtrInst>(user);
        address->setIsInBounds(false);
        address->setOperand(0, base);
        address->setOperand(1, parts.varying);
    }
    index.eraseFromParent();
}

void hoist_in_loop(const llvm::Loop &loop) {
    if (!loop.getLoopPreheader()) {
        return;
    }
    for (llvm::BasicBlock *block : loop.blocks()) {
        for (auto i = block->begin(); i != block->end();) {
            llvm::Instruction &index = *i++;
            const std::optional<SplitIndex> parts = split(index, loop);
            if (parts && is_only_index(index, loop)) {
                hoist(index, *parts, loop);
            }
        }
    }
}

}  // namespace

void hoist_uniform_offsets(llvm::Module &module) {
    for (llvm::Function &f : module) {
        if (f.isDeclaration()) {
            continue;
        }
        const llvm::DominatorTree dominators(f);
        const llvm::LoopInfo loops(dominators);
        for (const llvm::Loop *loop : loops.getLoopsInPreorder()) {
            hoist_in_loop(*loop);
        }
    }
}

}  // namespace calotype::internal
