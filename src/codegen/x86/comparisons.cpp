// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/x86/comparisons.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

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

/// Of lanes of so many bits at most are signed comparisons as cheap as those for equality everywhere.
constexpr unsigned widest_lane = 32;

/// What the comparison is with one of signed lanes; null if it is none.
llvm::Value *signed_comparison(llvm::ICmpInst &comparison) {
    using namespace llvm::PatternMatch;
    llvm::Value *x = nullptr;
    const llvm::APInt *mask = nullptr, *bits = nullptr;
    if (!comparison.isEquality() ||
        !match(&comparison, m_ICmp(m_And(m_Value(x), m_APInt(mask)), m_APInt(bits))) ||
        !mask->isNegatedPowerOf2() || mask->getBitWidth() > widest_lane) {
        return nullptr;
    }
    const bool equal = comparison.getPredicate() == llvm::CmpInst::ICMP_EQ;
    llvm::IRBuilder<> builder(&comparison);
    const auto constant = [&](const llvm::APInt &value) {
        return llvm::ConstantInt::get(x->getType(), value);
    };
    if (bits->isMinSignedValue()) {
        const llvm::APInt end = *bits - *mask;
        return equal ? builder.CreateICmpSLT(x, constant(end))
                     : builder.CreateICmpSGT(x, constant(end - 1));
    }
    if (*bits == (llvm::APInt::getSignedMaxValue(mask->getBitWidth()) & *mask)) {
        return equal ? builder.CreateICmpSGT(x, constant(*bits - 1))
                     : builder.CreateICmpSLT(x, constant(*bits));
    }
    return nullptr;
}

}  // namespace

void compare_upper_bits_at_once(llvm::Module &module) {
    for (llvm::Function &function : module) {
        for (llvm::BasicBlock &block : function) {
            for (llvm::Instruction &i : llvm::make_early_inc_range(block)) {
                auto *comparison = llvm::dyn_cast<llvm::ICmpInst>(&i);
                llvm::Value *better = comparison && comparison->getType()->isVectorTy()
                                          ? signed_comparison(*comparison)
                                          : nullptr;
                if (better) {
                    comparison->replaceAllUsesWith(better);
                    llvm::RecursivelyDeleteTriviallyDeadInstructions(comparison);
                }
            }
        }
    }
}

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
