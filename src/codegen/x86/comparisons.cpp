// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/x86/comparisons.h"

#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

namespace calotype::internal {

namespace {

/// The larger or the smaller of what is compared, if the block computes it.
llvm::MinMaxIntrinsic *extreme_of(const llvm::ICmpInst &comparison, llvm::Intrinsic::ID id) {
    llvm::Value *a = comparison.getOperand(0), *b = comparison.getOperand(1);
    for (llvm::User *user : a->users()) {
        auto *extreme = llvm::dyn_cast<llvm::MinMaxIntrinsic>(user);
        if (extreme && extreme->getIntrinsicID() == id &&
            extreme->getParent() == comparison.getParent() &&
            (extreme->getLHS() == b || extreme->getRHS() == b)) {
            return extreme;
        }
    }
    return nullptr;
}

void use_extreme(llvm::ICmpInst &comparison) {
    llvm::MinMaxIntrinsic *smaller = extreme_of(comparison, llvm::Intrinsic::umin),
                          *larger = extreme_of(comparison, llvm::Intrinsic::umax);
    if (!smaller == !larger) {
        return;
    }
    const auto predicate = comparison.getPredicate();
    const bool takes_smaller =
        predicate == llvm::CmpInst::ICMP_UGT || predicate == llvm::CmpInst::ICMP_ULE;
    if (takes_smaller != bool(smaller)) {
        comparison.swapOperands();
    }
    // Operands in the same order make them one operation.
    llvm::MinMaxIntrinsic *extreme = smaller ? smaller : larger;
    if (extreme->getLHS() != comparison.getOperand(0)) {
        extreme->getArgOperandUse(0).swap(extreme->getArgOperandUse(1));
    }
}

}  // namespace

void compare_by_known_extremes(llvm::Module &module) {
    for (llvm::Function &function : module) {
        for (llvm::BasicBlock &block : function) {
            for (llvm::Instruction &i : block) {
                auto *comparison = llvm::dyn_cast<llvm::ICmpInst>(&i);
                if (comparison && comparison->isUnsigned() && comparison->getType()->isVectorTy() &&
                    !llvm::isa<llvm::Constant>(comparison->getOperand(0)) &&
                    !llvm::isa<llvm::Constant>(comparison->getOperand(1))) {
                    use_extreme(*comparison);
                }
            }
        }
    }
}

}  // namespace calotype::internal
