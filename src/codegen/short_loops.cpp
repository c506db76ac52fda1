// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/short_loops.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/Function.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

namespace calotype::internal {

namespace {

unsigned size_of(const llvm::Loop &loop) {
    unsigned size = 0;
    for (const llvm::BasicBlock *block : loop.blocks()) {
        size += unsigned(block->size());
    }
    return size;
}

}  // namespace

llvm::PreservedAnalyses ChooseUnrolling::run(llvm::Function &f,
                                             llvm::FunctionAnalysisManager &analyses) const {
    auto &evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(f);
    for (llvm::Loop *loop : analyses.getResult<llvm::LoopAnalysis>(f).getLoopsInPreorder()) {
        const unsigned iterations = evolution.getSmallConstantTripCount(loop);
        const bool whole = loop->isInnermost() && iterations > 0 && iterations <= most_iterations &&
                           iterations * size_of(*loop) <= most_instructions;
        if (whole || others_stay) {
            llvm::addStringMetadataToLoop(
                loop, whole ? "llvm.loop.unroll.full" : "llvm.loop.unroll.runtime.disable", 1);
        }
    }
    return llvm::PreservedAnalyses::all();
}

}  // namespace calotype::internal
