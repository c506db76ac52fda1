// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reciprocal of the divisor is split in two: high is rounded towards zero, low is the rest of
// it, rounded. Together they have twice the digits, so that fma(x, high, x * low) is the quotient
// before its one rounding but for some 2^-p of a last place, p the digits of the type. A quotient
// that is a float is therefore hit exactly; a product with 1 / c alone misses one in some
// divisors' multiples (x == c == 41 gives less than 1). Rounded towards zero, high leaves a low of
// its sign, so that the sum of an infinity's products is no NaN.
#include "codegen/llvm/passes/constant_divisors.h"

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

struct Division {
    llvm::BinaryOperator *quotient;
    const APFloat *divisor;
};

/// By constants, where operations may be reassociated.
std::vector<Division> divisions_in(llvm::Function &function) {
    using namespace llvm::PatternMatch;
    std::vector<Division> found;
    for (llvm::Instruction &i : llvm::instructions(function)) {
        const APFloat *divisor = nullptr;
        const llvm::Type *scalar = i.getType()->getScalarType();
        if (match(&i, m_FDiv(m_Value(), m_APFloat(divisor))) && i.hasAllowReassoc() &&
            (scalar->isFloatTy() || scalar->isDoubleTy())) {
            found.push_back({llvm::cast<llvm::BinaryOperator>(&i), divisor});
        }
    }
    return found;
}

/// Rounding down or to an integer, comparing and storing are not: a multiple of the divisor gives a whole number there.
bool is_sum_or_product(const llvm::User *user) {
    const auto *i = llvm::dyn_cast<llvm::BinaryOperator>(user);
    return i && i->getType()->isFPOrFPVectorTy() && i->hasAllowReassoc() &&
           (i->getOpcode() == llvm::Instruction::FAdd ||
            i->getOpcode() == llvm::Instruction::FSub || i->getOpcode() == llvm::Instruction::FMul);
}

}  // namespace

void let_sums_take_reciprocals(llvm::Module &module) {
    for (llvm::Function &function : module) {
        for (const Division &d : divisions_in(function)) {
            d.quotient->setHasAllowReciprocal(llvm::all_of(d.quotient->users(), is_sum_or_product));
        }
    }
}

void multiply_for_constant_divisors(llvm::Module &module) {
    for (llvm::Function &function : module) {
        for (const Division &d : divisions_in(function)) {
            if (has_split_reciprocal(*d.divisor)) {
                multiply(d.quotient, *d.divisor);
            }
        }
    }
}

}  // namespace calotype::internal
