// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/x86/float_choices.h"

#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>

namespace calotype::internal {

namespace {

using llvm::Value;

bool is_float_or_double(const llvm::Type *type) {
    return type->isFloatTy() || type->isDoubleTy();
}

/// A comparison of numbers that are in vector registers.
bool compares_floats(const Value *v) {
    const auto *comparison = llvm::dyn_cast<llvm::CmpInst>(v);
    if (!comparison) {
        return false;
    }
    const auto *bits = llvm::dyn_cast<llvm::BitCastInst>(comparison->getOperand(0));
    return is_float_or_double(comparison->getOperand(0)->getType()) ||
           (bits && is_float_or_double(bits->getSrcTy()) &&
            llvm::isa<llvm::Constant>(comparison->getOperand(1)));
}

/// Makes vectors for what one function has single.
class LaneZero {
public:
    /// The condition of four lanes (two of 64 bits), of which lane 0 matters. Null if it is none of comparisons of
    /// numbers with so many bits.
    Value *condition(Value *v, unsigned bits) {
        auto *i = llvm::dyn_cast<llvm::Instruction>(v);
        if (!i || !is_made_of_comparisons(i, bits)) {
            return nullptr;
        }
        Value *&known = conditions_[i];
        if (known) {
            return known;
        }
        llvm::IRBuilder<> b(i->getParent(), std::next(i->getIterator()));
        if (auto *comparison = llvm::dyn_cast<llvm::CmpInst>(i)) {
            Value *x = vector(b, comparison->getOperand(0)),
                  *y = vector(b, comparison->getOperand(1));
            return known = b.CreateCmp(comparison->getPredicate(), x, y);
        }
        if (auto *both = llvm::dyn_cast<llvm::BinaryOperator>(i)) {
            Value *x = condition(both->getOperand(0), bits),
                  *y = condition(both->getOperand(1), bits);
            return conditions_[i] = b.CreateBinOp(both->getOpcode(), x, y);
        }
        return conditions_[i] = b.CreateFreeze(condition(i->getOperand(0), bits));
    }

    static Value *vector(llvm::IRBuilder<> &b, Value *single) {
        const unsigned lanes = 128 / single->getType()->getScalarSizeInBits();
        auto *type = llvm::FixedVectorType::get(single->getType(), lanes);
        if (auto *constant = llvm::dyn_cast<llvm::Constant>(single)) {
            return llvm::ConstantVector::getSplat(type->getElementCount(), constant);
        }
        if (auto *bits = llvm::dyn_cast<llvm::BitCastInst>(single)) {
            return b.CreateBitCast(vector(b, bits->getOperand(0)), type);
        }
        return b.CreateInsertElement(llvm::PoisonValue::get(type), single, uint64_t(0));
    }

private:
    static bool is_made_of_comparisons(const Value *v, unsigned bits) {
        const auto *i = llvm::dyn_cast<llvm::Instruction>(v);
        if (!i || compares_floats(i)) {
            return i && i->getOperand(0)->getType()->getScalarSizeInBits() == bits;
        }
        return (i->isBitwiseLogicOp() && is_made_of_comparisons(i->getOperand(0), bits) &&
                is_made_of_comparisons(i->getOperand(1), bits)) ||
               (llvm::isa<llvm::FreezeInst>(i) && is_made_of_comparisons(i->getOperand(0), bits));
    }

    llvm::DenseMap<llvm::Instruction *, Value *> conditions_;
};

}  // namespace

void choose_floats_by_lanes(llvm::Module &module) {
    for (llvm::Function &function : module) {
        std::vector<llvm::SelectInst *> choices;
        for (llvm::Instruction &i : llvm::instructions(function)) {
            auto *choice = llvm::dyn_cast<llvm::SelectInst>(&i);
            if (choice && is_float_or_double(choice->getType()) &&
                !(llvm::isa<llvm::FCmpInst>(choice->getCondition()) &&
                  choice->getCondition()->hasOneUse())) {
                choices.push_back(choice);
            }
        }
        LaneZero lanes;
        for (llvm::SelectInst *choice : choices) {
            Value *condition =
                lanes.condition(choice->getCondition(), choice->getType()->getScalarSizeInBits());
            if (!condition) {
                continue;
            }
            llvm::IRBuilder<> b(choice);
            Value *chosen = b.CreateSelect(condition, LaneZero::vector(b, choice->getTrueValue()),
                                           LaneZero::vector(b, choice->getFalseValue()));
            choice->replaceAllUsesWith(b.CreateExtractElement(chosen, uint64_t(0)));
            choice->eraseFromParent();
        }
    }
}

}  // namespace calotype::internal
