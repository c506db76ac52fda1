// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/llvm/splats.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>

#include "codegen/llvm/types.h"

namespace calotype::internal {

llvm::Value *value_of_all(llvm::Value *v) {
    if (llvm::Value *known = llvm::getSplatValue(v)) {
        return known;
    }
    auto *lanes = llvm::dyn_cast<llvm::ShuffleVectorInst>(v);
    if (!lanes || !llvm::all_equal(lanes->getShuffleMask()) || lanes->getMaskValue(0) < 0) {
        return nullptr;
    }
    const int lane = lanes->getMaskValue(0),
              first_lanes = lanes_of(lanes->getOperand(0)->getType());
    llvm::IRBuilder<> b(lanes);
    return lane < first_lanes
               ? b.CreateExtractElement(lanes->getOperand(0), uint64_t(lane))
               : b.CreateExtractElement(lanes->getOperand(1), uint64_t(lane - first_lanes));
}

}  // namespace calotype::internal
