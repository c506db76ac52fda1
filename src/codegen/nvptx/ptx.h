// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PtxWriter: LLVM's side of making PTX.
#pragma once

#include <memory>
#include <string>

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include "codegen/nvptx/capability.h"

namespace calotype::internal {

class PtxWriter {
public:
    /// PTX of at least that version, times ten, where more is used than the architecture has in its
    /// own.
    explicit PtxWriter(Capability capability, int least_isa = 0);

    /// Sets triple and data layout.
    void prepare(llvm::Module &module) const;
    void optimize(llvm::Module &module) const;
    /// PTX of the lowest version that has what the architecture is used for. Changes the module.
    std::string text(llvm::Module &module) const;

private:
    Capability capability_;
    std::unique_ptr<llvm::TargetMachine> machine_;
};

}  // namespace calotype::internal
