// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/llvm/passes/invariant_gathers.h"

#include <vector>

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/MemoryLocation.h>
#include <llvm/Analysis/MustExecute.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>

namespace calotype::internal {

namespace {

using llvm::Value;

/// A gather of all its lanes; null for others.
llvm::IntrinsicInst *whole_gather(llvm::Instruction &i) {
    auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
    const bool is_gather = call && call->getIntrinsicID() == llvm::Intrinsic::masked_gather;
    const auto *mask = is_gather ? llvm::dyn_cast<llvm::Constant>(call->getArgOperand(2)) : nullptr;
    return mask && mask->isAllOnesValue() ? call : nullptr;
}

/// The one address that a vector of indices is added to; null if there is none.
const Value *base_of(const llvm::IntrinsicInst &gather) {
    const auto *sum = llvm::dyn_cast<llvm::GEPOperator>(gather.getArgOperand(0));
    const Value *base = sum ? sum->getPointerOperand() : nullptr;
    return base && !base->getType()->isVectorTy() ? base : nullptr;
}

class Hoisting {
public:
    Hoisting(llvm::Function &f, llvm::FunctionAnalysisManager &analyses)
        : aliases_(analyses.getResult<llvm::AAManager>(f)),
          tree_(analyses.getResult<llvm::DominatorTreeAnalysis>(f)) {
    }

    bool run(llvm::Loop &loop) {
        const std::vector<llvm::IntrinsicInst *> gathers = candidates(loop);
        if (gathers.empty()) {
            return false;
        }
        llvm::SimpleLoopSafetyInfo safety;
        safety.computeLoopSafetyInfo(&loop);
        bool has_changed = false;
        for (llvm::IntrinsicInst *gather : gathers) {
            if (safety.isGuaranteedToExecute(*gather, &tree_, &loop) &&
                !is_written(*gather, loop)) {
                gather->moveBefore(loop.getLoopPreheader()->getTerminator());
                has_changed = true;
            }
        }
        return has_changed;
    }

private:
    static std::vector<llvm::IntrinsicInst *> candidates(const llvm::Loop &loop) {
        std::vector<llvm::IntrinsicInst *> found;
        for (llvm::BasicBlock *block : loop.blocks()) {
            for (llvm::Instruction &i : *block) {
                llvm::IntrinsicInst *gather = whole_gather(i);
                if (gather && loop.hasLoopInvariantOperands(gather) && base_of(*gather)) {
                    found.push_back(gather);
                }
            }
        }
        return loop.getLoopPreheader() ? found : std::vector<llvm::IntrinsicInst *>();
    }

    bool is_written(const llvm::IntrinsicInst &gather, const llvm::Loop &loop) {
        const auto place =
            llvm::MemoryLocation::getBeforeOrAfter(base_of(gather), gather.getAAMetadata());
        return llvm::any_of(loop.blocks(), [&](llvm::BasicBlock *block) {
            return llvm::any_of(*block, [&](const llvm::Instruction &i) {
                return i.mayWriteToMemory() && isModSet(aliases_.getModRefInfo(&i, place));
            });
        });
    }

    llvm::AAResults &aliases_;
    llvm::DominatorTree &tree_;
};

}  // namespace

llvm::PreservedAnalyses HoistGathers::run(llvm::Function &f,
                                          llvm::FunctionAnalysisManager &analyses) const {
    std::vector<llvm::Loop *> loops;
    for (llvm::Loop *loop : analyses.getResult<llvm::LoopAnalysis>(f).getLoopsInPreorder()) {
        loops.insert(loops.begin(), loop);
    }
    bool has_changed = false;
    if (!loops.empty()) {
        Hoisting hoisting(f, analyses);
        for (llvm::Loop *loop : loops) {  // the innermost first
            has_changed |= hoisting.run(*loop);
        }
    }
    llvm::PreservedAnalyses kept;
    kept.preserveSet<llvm::CFGAnalyses>();
    return has_changed ? kept : llvm::PreservedAnalyses::all();
}

}  // namespace calotype::internal
