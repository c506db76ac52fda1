// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which loops LLVM unrolls wholly.
#pragma once

#include <llvm/IR/PassManager.h>

namespace calotype::internal {

/// An LLVM pass that marks the innermost loops of constant extent that are to be unrolled wholly, if
/// they are that short.
struct ChooseUnrolling : llvm::PassInfoMixin<ChooseUnrolling> {
    unsigned most_iterations, most_instructions;
    bool others_stay = false;  ///< loops of unknown extent are marked, too: not to be unrolled

    ChooseUnrolling(unsigned iterations, unsigned instructions, bool leave_others)
        : most_iterations(iterations), most_instructions(instructions), others_stay(leave_others) {
    }
    llvm::PreservedAnalyses run(llvm::Function &f, llvm::FunctionAnalysisManager &analyses) const;
};

}  // namespace calotype::internal
