// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/llvm/math/bfloat16_nans.h"

#include <algorithm>
#include <set>

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/PatternMatch.h>

namespace calotype::internal {

namespace {

namespace match = llvm::PatternMatch;

bool gives_nan_of_operand(llvm::Intrinsic::ID id) {
    switch (id) {
    case llvm::Intrinsic::fma:
    case llvm::Intrinsic::fmuladd:
    case llvm::Intrinsic::fabs:
    case llvm::Intrinsic::sqrt:
    case llvm::Intrinsic::minnum:
    case llvm::Intrinsic::maxnum:
        return true;
    default:
        return false;
    }
}

class NanOrigins {
public:
    bool all_of_bfloat16(const llvm::Value *v) {
        if (visited_.size() >= limit) {
            return false;
        }
        if (!visited_.insert(v).second) {
            return true;
        }
        if (const auto *constant = llvm::dyn_cast<llvm::Constant>(v)) {
            return match::match(constant, match::m_NonNaN());
        }
        const llvm::Value *bits;
        if (match::match(v, match::m_BitCast(match::m_Value(bits)))) {
            return match::match(bits, match::m_Shl(match::m_Value(), match::m_SpecificInt(16)));
        }
        const auto *op = llvm::dyn_cast<llvm::Operator>(v);
        return op && all_of_operands(op);
    }

private:
    /// How many values to look at.
    static constexpr size_t limit = 64;

    bool all_of_operands(const llvm::Operator *op) {
        switch (op->getOpcode()) {
        case llvm::Instruction::SIToFP:
        case llvm::Instruction::UIToFP:
            return true;
        case llvm::Instruction::FAdd:
        case llvm::Instruction::FSub:
        case llvm::Instruction::FMul:
        case llvm::Instruction::FDiv:
        case llvm::Instruction::FNeg:
        case llvm::Instruction::ShuffleVector:
            return all_of(op->operands());
        case llvm::Instruction::InsertElement:
            return all_of_bfloat16(op->getOperand(0)) && all_of_bfloat16(op->getOperand(1));
        case llvm::Instruction::ExtractElement:
            return all_of_bfloat16(op->getOperand(0));
        case llvm::Instruction::Select:
            return all_of_bfloat16(op->getOperand(1)) && all_of_bfloat16(op->getOperand(2));
        case llvm::Instruction::Call: {
            const auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(op);
            return call && gives_nan_of_operand(call->getIntrinsicID()) && all_of(call->args());
        }
        default:
            return false;
        }
    }

    template<typename Operands>
    bool all_of(const Operands &operands) {
        return std::all_of(operands.begin(), operands.end(),
                           [&](const llvm::Use &use) { return all_of_bfloat16(use.get()); });
    }

    std::set<const llvm::Value *> visited_;
};

}  // namespace

bool has_nans_of_bfloat16(const llvm::Value *value) {
    return NanOrigins().all_of_bfloat16(value);
}

}  // namespace calotype::internal
