// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which loops LLVM unrolls.
#pragma once

#include <llvm/IR/PassManager.h>

namespace calotype::internal {

/// An LLVM pass that marks the innermost loops of constant extent that are to be unrolled: wholly, if they are
/// that short. On a device those that read its memory and write nothing are unrolled as far as it takes to have many
/// loads under way, whether or not their extent is known; those of more than a window that add to what stays in memory
/// as far as their code is short; others of unknown extent stay.
struct ChooseUnrolling : llvm::PassInfoMixin<ChooseUnrolling> {
    unsigned most_iterations, most_instructions;
    bool on_device;

    ChooseUnrolling(unsigned iterations, unsigned instructions, bool on_device)
        : most_iterations(iterations), most_instructions(instructions), on_device(on_device) {
    }
    llvm::PreservedAnalyses run(llvm::Function &f, llvm::FunctionAnalysisManager &analyses) const;
};

}  // namespace calotype::internal
