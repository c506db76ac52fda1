// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/short_loops.h"

#include <algorithm>

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/LoopPeel.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/UnrollLoop.h>

namespace calotype::internal {

namespace {

/// How many loads of a loop that only reads device memory a thread has under way, and the instructions that
/// are in order without a loop still: a longer body waits for its instructions.
constexpr unsigned loads_under_way = 48, straight_instructions = 256;

/// The same of loops of an unknown number of iterations.
constexpr unsigned unknown_loads_under_way = 32;

/// How many of the iterations that such a loop leaves over are done at once: often it is all that there are.
constexpr unsigned iterations_of_rest = 8;

/// What the assembler makes of a loop of an unknown number of iterations, which it does not know to be fewer.
constexpr unsigned unrolled_by_assembler = 4;

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

/// The constant by which it grows in each iteration of the loop; 0 if there is none.
int64_t step_of(const llvm::SCEV *value, const llvm::Loop *loop) {
    const auto *sum = llvm::dyn_cast_if_present<llvm::SCEVAddRecExpr>(value);
    const auto *step = sum && sum->getLoop() == loop && sum->isAffine()
                           ? llvm::dyn_cast<llvm::SCEVConstant>(sum->getOperand(1))
                           : nullptr;
    return step ? step->getAPInt().getSExtValue() : 0;
}

/// Whether a loop around this one goes on by fewer bytes than this one stores to in all, and this one reads what it
/// stores to, as where each element is added to a window of neighbours. Without the loop, elements would be read together of which
/// the iteration before stored some together and others alone; such a load waits until all are in the cache.
bool overlaps_its_last_updates(const llvm::Loop &loop, unsigned iterations,
                               llvm::ScalarEvolution &evolution) {
    for (const llvm::BasicBlock *block : loop.blocks()) {
        for (const llvm::Instruction &i : *block) {
            const auto *store = llvm::dyn_cast<llvm::StoreInst>(&i);
            const llvm::Value *place = store ? store->getPointerOperand() : nullptr;
            const bool updates = store && llvm::any_of(place->users(), [](const llvm::User *user) {
                                     return llvm::isa<llvm::LoadInst>(user);
                                 });
            const llvm::SCEV *address =
                updates ? evolution.getSCEV(const_cast<llvm::Value *>(place)) : nullptr;
            const int64_t step = step_of(address, &loop);
            const auto *first = llvm::dyn_cast_if_present<llvm::SCEVAddRecExpr>(address);
            for (; step != 0 && first;
                 first = llvm::dyn_cast<llvm::SCEVAddRecExpr>(first->getStart())) {
                const int64_t around = step_of(first, first->getLoop());
                if (first->getLoop() != &loop && around != 0 &&
                    std::abs(around) < std::abs(step) * int64_t(iterations)) {
                    return true;
                }
            }
        }
    }
    return false;
}

/// The number of iterations, more than half of `most`, after which the fewest are left over.
unsigned iterations_at_once(unsigned iterations, unsigned most) {
    unsigned best = std::min(iterations, most);
    for (unsigned n = best; n > most / 2; n--) {
        best = iterations % n < iterations % best ? n : best;
    }
    return best;
}

void set_count(llvm::Loop *loop, unsigned count) {
    count < 2 ? llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.disable", 1)
              : llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.count", count);
}

/// It unrolls loops whose iterations are not known by four, if at all.
void leave_to_assembler(llvm::Loop *loop) {
    llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.runtime.disable", 1);
}

/// Changes loops whose iterations are to be spread over several.
class LoopSurgeon {
public:
    LoopSurgeon(llvm::Function &f, llvm::FunctionAnalysisManager &analyses)
        : loops_(analyses.getResult<llvm::LoopAnalysis>(f)),
          evolution_(analyses.getResult<llvm::ScalarEvolutionAnalysis>(f)),
          dominators_(analyses.getResult<llvm::DominatorTreeAnalysis>(f)),
          assumptions_(analyses.getResult<llvm::AssumptionAnalysis>(f)),
          target_(analyses.getResult<llvm::TargetIRAnalysis>(f)),
          remarks_(analyses.getResult<llvm::OptimizationRemarkEmitterAnalysis>(f)) {
    }

    /// Puts that many iterations in front of the loop. Left in it, they would be behind an exit from the middle
    /// of the unrolled body, which no load is moved across.
    void peel(llvm::Loop *loop, unsigned iterations) {
        if (iterations > 0 && prepare(loop) && llvm::canPeel(loop)) {
            llvm::ValueToValueMapTy last;
            llvm::peelLoop(loop, iterations, &loops_, &evolution_, dominators_, &assumptions_, true,
                           last);
        }
    }

    /// Of an unknown number of iterations, which may be more, does so many at once, and of the rest fewer.
    void unroll(llvm::Loop *loop, unsigned count) {
        const unsigned most = evolution_.getSmallConstantMaxTripCount(loop);
        if ((most > 0 && most <= count) || !prepare(loop)) {
            return;
        }
        llvm::UnrollLoopOptions options{};
        options.Count = count;
        options.Force = options.Runtime = options.AllowExpensiveTripCount = true;
        llvm::Loop *rest = nullptr;
        if (llvm::UnrollLoop(loop, options, &loops_, &evolution_, &dominators_, &assumptions_,
                             &target_, &remarks_, true,
                             &rest) != llvm::LoopUnrollResult::PartiallyUnrolled) {
            return;
        }
        llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.disable", 1);
        if (rest) {
            rest->setLoopID(nullptr);
            leave_to_assembler(rest);
            if (count > iterations_of_rest) {
                unroll(rest, iterations_of_rest);
            }
        }
    }

    bool has_changed() const {
        return has_changed_;
    }

private:
    llvm::LoopInfo &loops_;
    llvm::ScalarEvolution &evolution_;
    llvm::DominatorTree &dominators_;
    llvm::AssumptionCache &assumptions_;
    llvm::TargetTransformInfo &target_;
    llvm::OptimizationRemarkEmitter &remarks_;
    bool has_changed_ = false;

    bool prepare(llvm::Loop *loop) {
        has_changed_ = true;
        llvm::simplifyLoop(loop, &dominators_, &loops_, &evolution_, &assumptions_, nullptr, true);
        llvm::formLCSSA(*loop, dominators_, &loops_, &evolution_);
        return loop->isLoopSimplifyForm();
    }
};

/// For a loop whose iterations are known.
void choose_for(llvm::Loop *loop, unsigned iterations, const ChooseUnrolling &limits,
                LoopSurgeon &surgeon) {
    const unsigned size = size_of(*loop), all = iterations * size;
    const bool is_short = iterations <= limits.most_iterations && all <= limits.most_instructions;
    const bool is_long = limits.on_device && all > straight_instructions;
    const unsigned loads = is_long ? loads_of_reading(*loop) : 0;
    if (loads > 0) {
        const unsigned most = std::min(loads_under_way / loads, limits.most_instructions / size);
        const unsigned count = iterations_at_once(iterations, most);
        if (count > 1) {
            set_count(loop, count);
            surgeon.peel(loop, iterations % count);
        } else {
            leave_to_assembler(loop);
        }
    } else if (is_long && is_short && iterations > window_iterations &&
               keeps_sums_in_memory(*loop)) {
        set_count(loop, iterations_at_once(iterations, straight_instructions / size));
    } else if (is_short) {
        llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.full", 1);
    } else if (limits.on_device) {
        leave_to_assembler(loop);
    }
}

/// For a loop on a device whose iterations are not known. Those in other loops are mostly over windows, so few that
/// the registers of a long body cost more than it saves.
void choose_for_unknown(llvm::Loop *loop, unsigned most_iterations, const ChooseUnrolling &limits,
                        LoopSurgeon &surgeon) {
    if (most_iterations > 0 && most_iterations < unrolled_by_assembler) {
        llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.disable", 1);
        return;
    }
    const bool is_alone = loop->isInnermost() && loop->isOutermost();
    const unsigned loads = is_alone ? loads_of_reading(*loop) : 0;
    const unsigned many = loads > 0 ? std::min(unknown_loads_under_way / loads,
                                               limits.most_instructions / size_of(*loop))
                                    : 0;
    leave_to_assembler(loop);
    if (many > 1) {
        surgeon.unroll(loop, many);
    }
}

}  // namespace

llvm::PreservedAnalyses ChooseUnrolling::run(llvm::Function &f,
                                             llvm::FunctionAnalysisManager &analyses) const {
    auto &evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(f);
    LoopSurgeon surgeon(f, analyses);
    for (llvm::Loop *loop : analyses.getResult<llvm::LoopAnalysis>(f).getLoopsInPreorder()) {
        const unsigned iterations =
            loop->isInnermost() ? evolution.getSmallConstantTripCount(loop) : 0;
        if (iterations > 0 && !on_device &&
            overlaps_its_last_updates(*loop, iterations, evolution)) {
            llvm::addStringMetadataToLoop(loop, "llvm.loop.vectorize.enable", 0);
            continue;
        }
        if (iterations > 0) {
            choose_for(loop, iterations, *this, surgeon);
        } else if (on_device) {
            choose_for_unknown(loop, evolution.getSmallConstantMaxTripCount(loop), *this, surgeon);
        }
    }
    return surgeon.has_changed() ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace calotype::internal
