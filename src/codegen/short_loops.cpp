// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/short_loops.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

namespace calotype::internal {

namespace {

constexpr const char *left_to_assembler = "calotype.loop.left_to_assembler";

unsigned size_of(const llvm::Loop &loop) {
    unsigned size = 0;
    for (const llvm::BasicBlock *block : loop.blocks()) {
        size += unsigned(block->size());
    }
    return size;
}

/// What it reads is in an address space of a device's memory, and it writes nothing: nothing that would
/// become one wider load, or a value that need not be read again.
bool only_reads_device_memory(const llvm::Loop &loop) {
    constexpr unsigned device_memory = 1;
    bool reads = false;
    for (const llvm::BasicBlock *block : loop.blocks()) {
        for (const llvm::Instruction &i : *block) {
            const auto *load = llvm::dyn_cast<llvm::LoadInst>(&i);
            if (i.mayWriteToMemory() || (load && load->getPointerAddressSpace() != device_memory)) {
                return false;
            }
            reads = reads || load;
        }
    }
    return reads;
}

}  // namespace

llvm::PreservedAnalyses ChooseUnrolling::run(llvm::Function &f,
                                             llvm::FunctionAnalysisManager &analyses) const {
    auto &evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(f);
    for (llvm::Loop *loop : analyses.getResult<llvm::LoopAnalysis>(f).getLoopsInPreorder()) {
        const unsigned iterations = evolution.getSmallConstantTripCount(loop);
        const bool whole = loop->isInnermost() && iterations > 0 && iterations <= most_iterations &&
                           iterations * size_of(*loop) <= most_instructions;
        if (whole) {
            llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.full", 1);
        } else if (others_stay && loop->isInnermost() && iterations > most_iterations &&
                   only_reads_device_memory(*loop)) {
            llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.disable", 1);
            llvm::addStringMetadataToLoop(loop, left_to_assembler, 1);
        } else if (others_stay) {
            llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.runtime.disable", 1);
        }
    }
    return llvm::PreservedAnalyses::all();
}

void leave_loops_to_assembler(llvm::Module &module) {
    for (llvm::Function &f : module) {
        if (f.isDeclaration()) {
            continue;
        }
        const llvm::DominatorTree dominators(f);
        const llvm::LoopInfo loops(dominators);
        for (llvm::Loop *loop : loops.getLoopsInPreorder()) {
            if (llvm::getBooleanLoopAttribute(loop, left_to_assembler)) {
                loop->setLoopID(nullptr);
            }
        }
    }
}

}  // namespace calotype::internal
