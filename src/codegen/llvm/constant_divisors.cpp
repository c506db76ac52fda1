// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reciprocal of the divisor is split in two: high is rounded towards zero, low is the rest of
// it, rounded. Together they have twice the digits, so that fma(x, high, x * low) is the quotient
// before its one rounding but for some 2^-p of a last place, p the digits of the type. A quotient
// that is a float is therefore hit exactly; a product with 1 / c alone misses one in some
// divisors' multiples (x == c == 41 gives less than 1). Rounded towards zero, high leaves a low of
// its sign, so that the sum of an infinity's products is no NaN.
#include "codegen/llvm/constant_divisors.h"

#include <vector>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PatternMatch.h>

namespace calotype::internal {

namespace {

using llvm::APFloat;

/// Neither half of the reciprocal is subnormal. (A product with `low` may be: of quotients below
/// 2^-102, 2^-969 for double, which may then be the neighbour.)
bool has_split_reciprocal(const APFloat &divisor) {
    if (!divisor.isFiniteNonZero()) {
        return false;
    }
    const llvm::fltSemantics &format = divisor.getSemantics();
    const int precision = int(APFloat::semanticsPrecision(format));
    return std::abs(ilogb(divisor)) < APFloat::semanticsMaxExponent(format) - precision - 3;
}

void multiply(llvm::BinaryOperator *division, const APFloat &divisor) {
    const APFloat one(divisor.getSemantics(), 1);
    APFloat high = one;
    high.divide(divisor, APFloat::rmTowardZero);
    APFloat low = -high;
    low.fusedMultiplyAdd(divisor, one, APFloat::rmNearestTiesToEven);
    low.divide(divisor, APFloat::rmNearestTiesToEven);

    llvm::IRBuilder<> b(division);
    llvm::Value *x = division->getOperand(0);
    llvm::Type *type = x->getType();
    llvm::Constant *factor = llvm::ConstantFP::get(type, high);
    llvm::Value *quotient = nullptr;
    if (low.isZero()) {
        quotient = b.CreateFMul(x, factor);
    } else {
        llvm::Value *rest = b.CreateFMul(x, llvm::ConstantFP::get(type, low));
        quotient = b.CreateIntrinsic(llvm::Intrinsic::fma, {type}, {x, factor, rest});
    }
    division->replaceAllUsesWith(quotient);
    division->eraseFromParent();
}

}  // namespace

void multiply_for_constant_divisors(llvm::Module &module) {
    using namespace llvm::PatternMatch;
    for (llvm::Function &function : module) {
        std::vector<std::pair<llvm::BinaryOperator *, const APFloat *>> found;
        for (llvm::Instruction &i : llvm::instructions(function)) {
            const APFloat *divisor = nullptr;
            const llvm::Type *scalar = i.getType()->getScalarType();
            if (match(&i, m_FDiv(m_Value(), m_APFloat(divisor))) && i.hasAllowReassoc() &&
                (scalar->isFloatTy() || scalar->isDoubleTy()) && has_split_reciprocal(*divisor)) {
                found.emplace_back(llvm::cast<llvm::BinaryOperator>(&i), divisor);
            }
        }
        for (const auto &[division, divisor] : found) {
            multiply(division, *divisor);
        }
    }
}

}  // namespace calotype::internal
