// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which loops LLVM unrolls wholly.
#pragma once

#include <llvm/IR/PassManager.h>

namespace calotype::internal {

/// An LLVM pass that marks the innermost loops of constant extent that are to be unrolled wholly, if
/// they are that short.
struct ChooseUnrolling : llvm::PassInfoMixin<ChooseUnrolling> {
    unsigned most_iterations, most_instructions;
    /// An assembler unrolls others: loops of unknown extent are marked not to be unrolled, and longer ones
    /// that read device memory and write nothing, which leave_loops_to_assembler() finds again.
    bool others_stay = false;

    ChooseUnrolling(unsigned iterations, unsigned instructions, bool leave_others)
        : most_iterations(iterations), most_instructions(instructions), others_stay(leave_others) {
    }
    llvm::PreservedAnalyses run(llvm::Function &f, llvm::FunctionAnalysisManager &analyses) const;
};

/// Once all passes have run, takes from the loops that are left to the assembler what kept LLVM from unrolling
/// them: PTX would say it to the assembler, too.
void leave_loops_to_assembler(llvm::Module &module);

}  // namespace calotype::internal
