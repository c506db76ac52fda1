// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/nvptx/faults/ptxas_faults.h"

#include <vector>

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>

#include "codegen/llvm/types.h"

namespace calotype::internal {

namespace {

using llvm::Value;
using llvm::Intrinsic::ID;

/// A minimum or maximum, with the intrinsic that computes it.
struct Choice {
    ID id = llvm::Intrinsic::not_intrinsic;
    Value *a = nullptr, *b = nullptr;
};

/// Instruction selection takes a select for a minimum too.
Choice choice_of(llvm::Instruction &i) {
    if (auto *call = llvm::dyn_cast<llvm::MinMaxIntrinsic>(&i)) {
        return {call->getIntrinsicID(), call->getLHS(), call->getRHS()};
    }
    Choice c;
    if (llvm::isa<llvm::SelectInst>(i)) {
        switch (llvm::matchSelectPattern(&i, c.a, c.b).Flavor) {
        case llvm::SPF_SMIN:
            c.id = llvm::Intrinsic::smin;
            break;
        case llvm::SPF_SMAX:
            c.id = llvm::Intrinsic::smax;
            break;
        case llvm::SPF_UMIN:
            c.id = llvm::Intrinsic::umin;
            break;
        case llvm::SPF_UMAX:
            c.id = llvm::Intrinsic::umax;
            break;
        default:
            break;
        }
    }
    return c;
}

/// Smaller integers are computed with in 16 bits.
bool is_short(llvm::Type *t) {
    return t->isIntOrIntVectorTy() && t->getScalarSizeInBits() > 1 &&
           t->getScalarSizeInBits() <= 16;
}

Value *widened_choice(llvm::IRBuilder<> &b, const Choice &c) {
    llvm::Type *narrow = c.a->getType(), *wide = narrow->getWithNewBitWidth(32);
    const bool is_signed = c.id == llvm::Intrinsic::smin || c.id == llvm::Intrinsic::smax;
    Value *chosen = b.CreateBinaryIntrinsic(c.id, b.CreateIntCast(c.a, wide, is_signed),
                                            b.CreateIntCast(c.b, wide, is_signed));
    return b.CreateTrunc(chosen, narrow);
}

/// A sum or difference within the limits of its type, which instruction selection makes minima of.
Value *widened_saturation(llvm::IRBuilder<> &b, const llvm::SaturatingInst &i) {
    llvm::Type *narrow = i.getType(), *wide = narrow->getWithNewBitWidth(32);
    const unsigned bits = narrow->getScalarSizeInBits();
    const bool is_signed = i.isSigned();
    const auto limit = [&](const llvm::APInt &value) {
        return llvm::ConstantInt::get(wide, is_signed ? value.sext(32) : value.zext(32));
    };
    Value *exact = b.CreateBinOp(i.getBinaryOp(), b.CreateIntCast(i.getLHS(), wide, is_signed),
                                 b.CreateIntCast(i.getRHS(), wide, is_signed));
    Value *at_most = b.CreateBinaryIntrinsic(
        llvm::Intrinsic::smin, exact,
        limit(is_signed ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits)));
    Value *result = b.CreateBinaryIntrinsic(
        llvm::Intrinsic::smax, at_most,
        limit(is_signed ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt::getMinValue(bits)));
    return b.CreateTrunc(result, narrow);
}

/// A vector of what f makes of each lane.
template<typename F>
Value *by_lanes(llvm::IRBuilder<> &b, llvm::Type *type, F &&f) {
    Value *result = llvm::PoisonValue::get(type);
    for (unsigned lane = 0; lane < unsigned(lanes_of(type)); lane++) {
        result = b.CreateInsertElement(result, f(lane), lane);
    }
    return result;
}

Value *negated_scalar(llvm::IRBuilder<> &b, Value *x) {
    const bool is_word = x->getType()->getIntegerBitWidth() > 16;
    llvm::Type *t = is_word ? b.getInt32Ty() : b.getInt16Ty();
    const char *code = is_word ? "{ not.b32 $0, $1; add.s32 $0, $0, 1; }"
                               : "{ not.b16 $0, $1; add.s16 $0, $0, 1; }";
    auto *instruction = llvm::InlineAsm::get(llvm::FunctionType::get(t, {t}, false), code,
                                             is_word ? "=r,r" : "=h,h", false);
    return b.CreateTrunc(b.CreateCall(instruction, {b.CreateZExt(x, t)}), x->getType());
}

Value *negated(llvm::IRBuilder<> &b, Value *x) {
    if (!x->getType()->isVectorTy()) {
        return negated_scalar(b, x);
    }
    return by_lanes(b, x->getType(), [&](unsigned lane) {
        return negated_scalar(b, b.CreateExtractElement(x, lane));
    });
}

/// Whether two lanes at a time would be one instruction. Where their number is odd the last one has
/// a neighbour that is undefined.
bool is_sum_of_shorts(const llvm::Instruction &i) {
    const unsigned opcode = i.getOpcode();
    return (opcode == llvm::Instruction::Add || opcode == llvm::Instruction::Sub ||
            opcode == llvm::Instruction::Mul) &&
           i.getType()->isVectorTy() && is_short(i.getType());
}

Value *computed_lane_by_lane(llvm::IRBuilder<> &b, const llvm::Instruction &i) {
    const auto operation = llvm::Instruction::BinaryOps(i.getOpcode());
    return by_lanes(b, i.getType(), [&](unsigned lane) {
        Value *x = b.CreateExtractElement(i.getOperand(0), lane);
        Value *y = b.CreateExtractElement(i.getOperand(1), lane);
        return b.CreateBinOp(operation, x, y);
    });
}

/// The operand of a negation of up to 32 bits; null for anything else.
Value *operand_of_negation(llvm::Instruction &i) {
    Value *x = nullptr;
    const bool is_negation =
        llvm::PatternMatch::match(&i, llvm::PatternMatch::m_Neg(llvm::PatternMatch::m_Value(x)));
    const unsigned bits = i.getType()->getScalarSizeInBits();
    return is_negation && bits > 1 && bits <= 32 ? x : nullptr;
}

void define_operand(llvm::Use &use) {
    if (llvm::isa<llvm::UndefValue>(use.get())) {
        use.set(llvm::Constant::getNullValue(use->getType()));
    }
}

void define_what_is_not_loaded(llvm::Function &function) {
    for (llvm::Instruction &i : llvm::instructions(function)) {
        if (auto *phi = llvm::dyn_cast<llvm::PHINode>(&i)) {
            for (llvm::Use &value : phi->incoming_values()) {
                define_operand(value);
            }
        } else if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i)) {
            const ID id = call->getIntrinsicID();
            if (id == llvm::Intrinsic::masked_load || id == llvm::Intrinsic::masked_gather) {
                constexpr unsigned where_the_mask_is_false = 3;
                define_operand(call->getArgOperandUse(where_the_mask_is_false));
            }
        }
    }
}

}  // namespace

void avoid_ptxas_faults(llvm::Module &module) {
    for (llvm::Function &function : module) {
        define_what_is_not_loaded(function);
        std::vector<llvm::Instruction *> replaced;
        for (llvm::Instruction &i : llvm::instructions(function)) {
            llvm::IRBuilder<> builder(&i);
            Value *result = nullptr;
            const Choice c = choice_of(i);
            if (Value *x = operand_of_negation(i)) {
                result = negated(builder, x);
            } else if (c.id != llvm::Intrinsic::not_intrinsic && is_short(i.getType())) {
                result = widened_choice(builder, c);
            } else if (auto *sum = llvm::dyn_cast<llvm::SaturatingInst>(&i);
                       sum && is_short(i.getType())) {
                result = widened_saturation(builder, *sum);
            } else if (is_sum_of_shorts(i)) {
                result = computed_lane_by_lane(builder, i);
            }
            if (result) {
                i.replaceAllUsesWith(result);
                replaced.push_back(&i);
            }
        }
        for (llvm::Instruction *i : replaced) {
            i->eraseFromParent();
        }
    }
}

}  // namespace calotype::internal
