// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gathers that a loop does not change.
#pragma once

#include <llvm/IR/PassManager.h>

namespace calotype::internal {

/// An LLVM pass that moves gathers out of loops which change neither their indices nor what they read, as of a table that is
/// read at the same places for each vector of a row:
///
///     f(x, y) = a(x, y) + t(x % 8, y % 8)     with x in vectors of 16
///
/// LLVM's loop invariant code motion takes a gather for a load of anything, which each store may change.
struct HoistGathers : llvm::PassInfoMixin<HoistGathers> {
    llvm::PreservedAnalyses run(llvm::Function &f, llvm::FunctionAnalysisManager &analyses) const;
};

}  // namespace calotype::internal
