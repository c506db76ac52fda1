// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/short_loops.h"

#include <algorithm>

#include <llvm/ADT/bit.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

namespace calotype::internal {

namespace {

/// How many loads of a loop that only reads device memory a thread has under way, and the instructions that
/// are in order without a loop still: a longer body waits for its instructions.
constexpr unsigned loads_under_way = 24, straight_instructions = 256;

/// Loops over windows of neighbours, which are read once only if such a loop is whole.
constexpr unsigned window_iterations = 8;

unsigned size_of(const llvm::Loop &loop) {
    unsigned size = 0;
    for (const llvm::BasicBlock *block : loop.blocks()) {
        size += unsigned(block->size());
    }
    return size;
}

/// The loads in it, if what it reads is in an address space of a device's memory and it writes nothing: no array
/// that would become registers, nothing that would become one wider load or need not be read again. Else 0.
unsigned loads_of_reading(const llvm::Loop &loop) {
    constexpr unsigned device_memory = 1;
    unsigned loads = 0;
    for (const llvm::BasicBlock *block : loop.blocks()) {
        for (const llvm::Instruction &i : *block) {
            const auto *load = llvm::dyn_cast<llvm::LoadInst>(&i);
            if (i.mayWriteToMemory() || (load && load->getPointerAddressSpace() != device_memory)) {
                return 0;
            }
            loads += load != nullptr;
        }
    }
    return loads;
}

/// Whether it adds to what stays in memory that others see, and keeps no array of a thread's own: it stores at
/// the same places in each iteration, and nothing becomes registers without the loop.
bool keeps_sums_in_memory(const llvm::Loop &loop) {
    constexpr unsigned own_memory = 0;
    bool found = false;
    for (const llvm::BasicBlock *block : loop.blocks()) {
        for (const llvm::Instruction &i : *block) {
            const llvm::Value *place = llvm::getLoadStorePointerOperand(&i);
            if (place && place->getType()->getPointerAddressSpace() == own_memory) {
                return false;
            }
            found |= llvm::isa<llvm::StoreInst>(i) && loop.isLoopInvariant(place);
        }
    }
    return found;
}

/// The largest number up to `most` that divides the iterations, or else a power of two.
unsigned iterations_at_once(unsigned iterations, unsigned most) {
    for (unsigned n = most; n > most / 2; n--) {
        if (iterations % n == 0) {
            return n;
        }
    }
    return llvm::bit_floor(most);
}

void set_count(llvm::Loop *loop, unsigned count) {
    count < 2 ? llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.disable", 1)
              : llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.count", count);
}

}  // namespace

llvm::PreservedAnalyses ChooseUnrolling::run(llvm::Function &f,
                                             llvm::FunctionAnalysisManager &analyses) const {
    auto &evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(f);
    for (llvm::Loop *loop : analyses.getResult<llvm::LoopAnalysis>(f).getLoopsInPreorder()) {
        const unsigned iterations =
            loop->isInnermost() ? evolution.getSmallConstantTripCount(loop) : 0;
        const unsigned size = size_of(*loop);
        const bool is_short = iterations > 0 && iterations <= most_iterations &&
                              iterations * size <= most_instructions;
        const bool is_long = on_device && iterations * size > straight_instructions;
        const unsigned loads = is_long ? loads_of_reading(*loop) : 0;
        if (loads > 0) {
            const unsigned most = std::min(loads_under_way / loads, most_instructions / size);
            set_count(loop, iterations_at_once(iterations, most));
        } else if (is_long && is_short && iterations > window_iterations &&
                   keeps_sums_in_memory(*loop)) {
            set_count(loop, iterations_at_once(iterations, straight_instructions / size));
        } else if (is_short) {
            llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.full", 1);
        } else if (on_device) {
            llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.runtime.disable", 1);
        }
    }
    return llvm::PreservedAnalyses::all();
}

}  // namespace calotype::internal
