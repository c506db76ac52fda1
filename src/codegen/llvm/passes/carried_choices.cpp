// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/llvm/passes/carried_choices.h"

#include <vector>

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/Local.h>

namespace calotype::internal {

namespace {

using Instructions = llvm::SmallPtrSet<const llvm::Instruction *, 32>;

/// What a loop of one block carries from iteration to iteration, and what that is made of on its way through the block.
class Carried {
public:
    explicit Carried(const llvm::BasicBlock &block) {
        Instructions from_before;
        for (const llvm::Instruction &i : block) {
            if (llvm::isa<llvm::PHINode>(i) ||
                llvm::any_of(i.operands(), [&](const llvm::Value *operand) {
                    return from_before.contains(llvm::dyn_cast<llvm::Instruction>(operand));
                })) {
                from_before.insert(&i);
            }
        }
        for (const llvm::PHINode &phi : block.phis()) {
            needed_.insert(llvm::dyn_cast<llvm::Instruction>(phi.getIncomingValueForBlock(&block)));
        }
        for (const llvm::Instruction &i : llvm::reverse(block)) {
            if (needed_.contains(&i) && from_before.contains(&i) && !llvm::isa<llvm::PHINode>(i)) {
                carried_.insert(&i);
                for (const llvm::Value *operand : i.operands()) {
                    needed_.insert(llvm::dyn_cast<llvm::Instruction>(operand));
                }
            }
        }
    }

    bool contains(const llvm::Value *v) const {
        return carried_.contains(llvm::dyn_cast<llvm::Instruction>(v));
    }

private:
    Instructions needed_, carried_;
};

/// Whether the other operand with `v` is that operand.
bool is_neutral(const llvm::Value *v, const llvm::BinaryOperator &op) {
    switch (op.getOpcode()) {
    case llvm::Instruction::Add:
    case llvm::Instruction::Sub:
    case llvm::Instruction::Or:
    case llvm::Instruction::Xor:
    case llvm::Instruction::FSub: {
        const auto *constant = llvm::dyn_cast<llvm::Constant>(v);
        return constant && constant->isNullValue();
    }
    case llvm::Instruction::FAdd: {
        const auto *constant = llvm::dyn_cast<llvm::ConstantFP>(v);
        return constant && constant->isZero() && (constant->isNegative() || op.hasNoSignedZeros());
    }
    default:
        return false;
    }
}

/// The choice between nothing and something that the block does not compute, by which an operation changes its other
/// operand, number `*changed`.
llvm::SelectInst *choice_of(const llvm::BinaryOperator &op, unsigned *changed) {
    for (unsigned i : {1, 0}) {
        auto *choice = llvm::dyn_cast<llvm::SelectInst>(op.getOperand(i));
        if (!choice || choice->getParent() != op.getParent() || (i == 0 && !op.isCommutative())) {
            continue;
        }
        llvm::Value *yes = choice->getTrueValue(), *no = choice->getFalseValue();
        const auto *something = llvm::dyn_cast<llvm::Instruction>(is_neutral(yes, op) ? no : yes);
        if (is_neutral(yes, op) != is_neutral(no, op) &&
            !(something && something->getParent() == op.getParent())) {
            *changed = 1 - i;
            return choice;
        }
    }
    return nullptr;
}

/// Of vectors of integers a choice takes no less time than the change and a mask.
bool is_changed_sooner(const llvm::Type *t) {
    return !t->isVectorTy() || t->isFPOrFPVectorTy();
}

/// Whether it is later that `condition` is there than `v`: otherwise the chain is as long as it was.
bool compares(const llvm::Value *condition, const llvm::Value *v) {
    const auto *comparison = llvm::dyn_cast<llvm::CmpInst>(condition);
    return comparison && (comparison->getOperand(0) == v || comparison->getOperand(1) == v);
}

void compute_both(llvm::BinaryOperator *op, llvm::SelectInst *choice, llvm::Value *unchanged) {
    llvm::IRBuilder<> b(op);
    const bool changes_if_true = !is_neutral(choice->getTrueValue(), *op);
    llvm::Value *something = changes_if_true ? choice->getTrueValue() : choice->getFalseValue();
    llvm::Value *changed = b.CreateBinOp(op->getOpcode(), unchanged, something);
    if (llvm::isa<llvm::FPMathOperator>(changed) && llvm::isa<llvm::Instruction>(changed)) {
        llvm::cast<llvm::Instruction>(changed)->copyFastMathFlags(op);
    }
    llvm::Value *chosen = changes_if_true
                              ? b.CreateSelect(choice->getCondition(), changed, unchanged)
                              : b.CreateSelect(choice->getCondition(), unchanged, changed);
    chosen->takeName(op);
    op->replaceAllUsesWith(chosen);
    op->eraseFromParent();
    llvm::RecursivelyDeleteTriviallyDeadInstructions(choice);
}

void compute_both_in(llvm::BasicBlock &block) {
    const Carried carried(block);
    std::vector<llvm::BinaryOperator *> sums;
    for (llvm::Instruction &i : block) {
        auto *op = llvm::dyn_cast<llvm::BinaryOperator>(&i);
        unsigned changed;
        if (op && is_changed_sooner(op->getType()) && carried.contains(op)) {
            llvm::SelectInst *choice = choice_of(*op, &changed);
            if (choice && carried.contains(choice->getCondition()) &&
                compares(choice->getCondition(), op->getOperand(changed))) {
                sums.push_back(op);
            }
        }
    }
    for (llvm::BinaryOperator *op : sums) {
        unsigned changed;
        if (llvm::SelectInst *choice = choice_of(*op, &changed)) {
            compute_both(op, choice, op->getOperand(changed));
        }
    }
}

}  // namespace

void compute_both_choices(llvm::Module &module) {
    for (llvm::Function &function : module) {
        for (llvm::BasicBlock &block : function) {
            if (llvm::is_contained(llvm::successors(&block), &block)) {
                compute_both_in(block);
            }
        }
    }
}

}  // namespace calotype::internal
