// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/llvm/passes/inbounds_neighbours.h"

#include <algorithm>
#include <iterator>

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Instructions.h>

namespace calotype::internal {

namespace {

/// Whether all of the block runs wherever it is entered.
bool runs_to_its_end(const llvm::BasicBlock &block) {
    return std::all_of(block.begin(), std::prev(block.end()), [](const llvm::Instruction &i) {
        return llvm::isGuaranteedToTransferExecutionToSuccessor(&i);
    });
}

llvm::SmallPtrSet<const llvm::Value *, 16> places_accessed(const llvm::BasicBlock &block) {
    llvm::SmallPtrSet<const llvm::Value *, 16> places;
    for (const llvm::Instruction &i : block) {
        if (const llvm::Value *place = llvm::getLoadStorePointerOperand(&i)) {
            places.insert(place);
        }
    }
    return places;
}

void mark_neighbours(llvm::BasicBlock &block) {
    const auto accessed = places_accessed(block);
    if (accessed.size() < 2 || !runs_to_its_end(block)) {
        return;
    }
    for (llvm::Instruction &i : block) {
        auto *address = llvm::dyn_cast<llvm::GetElementPtrInst>(&i);
        if (address && address->hasAllConstantIndices() && accessed.contains(address) &&
            accessed.contains(address->getPointerOperand())) {
            address->setIsInBounds(true);
        }
    }
}

}  // namespace

llvm::PreservedAnalyses MarkInboundsNeighbours::run(llvm::Function &f,
                                                    llvm::FunctionAnalysisManager &) const {
    for (llvm::BasicBlock &block : f) {
        mark_neighbours(block);
    }
    return llvm::PreservedAnalyses::all();
}

}  // namespace calotype::internal
