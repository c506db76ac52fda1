// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What LLVM may know of addresses that are a constant apart.
#pragma once

#include <llvm/IR/PassManager.h>

namespace calotype::internal {

/// An LLVM pass that marks an address which is a constant away from another one as inbounds, where the block accesses
/// both, as the channels of a pixel are: both lie in one object then.
///
///     %q = getelementptr i8, ptr %p, i64 1            ->      %q = getelementptr inbounds i8, ptr %p, i64 1
///     load i8, ptr %p; load i8, ptr %q
///
/// The distance of two such addresses is read off their indices. Of others it is the difference of two sums, and LLVM's
/// analysis does not see that it is a constant where a sum of products is subtracted in both, as the place of a buffer's
/// first element is: values that are stored beside each other then did not become vectors.
struct MarkInboundsNeighbours : llvm::PassInfoMixin<MarkInboundsNeighbours> {
    llvm::PreservedAnalyses run(llvm::Function &f, llvm::FunctionAnalysisManager &analyses) const;
};

}  // namespace calotype::internal
