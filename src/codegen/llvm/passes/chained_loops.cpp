// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A variable in 64 bits is compared in 64 bits. What LLVM asks of another variable, in 32, it then asks of its extension;
// what it wants to know for that is whether the variable around it can be extended, and so on: the time it takes is
// multiplied with each loop. As long as all of them have 32 bits, nothing is extended.
#include "codegen/llvm/passes/chained_loops.h"

#include <algorithm>

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Instructions.h>

namespace calotype::internal {

namespace {

/// The most of them in a nest that LLVM is left to do all for.
constexpr unsigned longest_chain = 4;

/// Whether the end of the loop is computed in each iteration of the one around it.
bool is_linked(const llvm::Loop &loop) {
    const llvm::Loop *parent = loop.getParentLoop();
    const llvm::BasicBlock *latch = loop.getLoopLatch();
    const auto *branch = latch ? llvm::dyn_cast<llvm::BranchInst>(latch->getTerminator()) : nullptr;
    const auto *test = parent && branch && branch->isConditional()
                           ? llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition())
                           : nullptr;
    return test && std::any_of(test->op_begin(), test->op_end(), [&](const llvm::Use &side) {
               const auto *value = llvm::dyn_cast<llvm::Instruction>(side);
               return value && !loop.contains(value) && parent->contains(value);
           });
}

unsigned linked_inside(const llvm::Loop &loop) {
    unsigned most = 0;
    for (const llvm::Loop *inner : loop) {
        most = std::max(most, linked_inside(*inner) + unsigned(is_linked(*inner)));
    }
    return most;
}

unsigned linked_in_nest(const llvm::Loop &loop) {
    unsigned count = linked_inside(loop);
    for (const llvm::Loop *at = &loop; at; at = at->getParentLoop()) {
        count += unsigned(is_linked(*at));
    }
    return count;
}

}  // namespace

void leave_chains_of_loops(llvm::PassInstrumentationCallbacks &instrumentation) {
    instrumentation.registerShouldRunOptionalPassCallback(
        [](llvm::StringRef pass, const llvm::Any &unit) {
            const auto *loop = llvm::any_cast<const llvm::Loop *>(&unit);
            return !loop || pass != "IndVarSimplifyPass" || linked_in_nest(**loop) <= longest_chain;
        });
}

}  // namespace calotype::internal
