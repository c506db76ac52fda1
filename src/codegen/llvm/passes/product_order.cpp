// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How late a value is there is counted in operations of its block, from what is there when the block
// begins. Loads count as nothing: they can be begun early. What comes round a loop is later than all
// that the iteration computes by itself.
#include "codegen/llvm/passes/product_order.h"

#include <algorithm>

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>

namespace calotype::internal {

namespace {

constexpr int of_loop = 1 << 16;

class BlockDepths {
public:
    /// Depths are asked of instructions in their order.
    int of(const llvm::Value *v, const llvm::BasicBlock &block) const {
        const auto *i = llvm::dyn_cast<llvm::Instruction>(v);
        const auto known = i && i->getParent() == &block ? depth_.find(i) : depth_.end();
        return known == depth_.end() ? 0 : known->second;
    }

    void add(const llvm::Instruction &i, const llvm::BasicBlock &block) {
        if (const auto *phi = llvm::dyn_cast<llvm::PHINode>(&i)) {
            depth_[&i] = phi->getBasicBlockIndex(&block) >= 0 ? of_loop : 0;
            return;
        }
        int depth = 0;
        if (!i.mayReadFromMemory()) {
            for (const llvm::Value *operand : i.operands()) {
                depth = std::max(depth, of(operand, block));
            }
            depth += i.getType()->isFPOrFPVectorTy();
        }
        depth_[&i] = depth;
    }

private:
    llvm::DenseMap<const llvm::Instruction *, int> depth_;
};

bool is_contractable_product(const llvm::Value *v) {
    const auto *product = llvm::dyn_cast<llvm::BinaryOperator>(v);
    return product && product->getOpcode() == llvm::Instruction::FMul && product->hasOneUse() &&
           product->hasAllowContract();
}

void order_products(llvm::BasicBlock &block) {
    BlockDepths depths;
    for (llvm::Instruction &i : block) {
        depths.add(i, block);
        if (i.getOpcode() == llvm::Instruction::FAdd && i.hasAllowContract() &&
            is_contractable_product(i.getOperand(0)) && is_contractable_product(i.getOperand(1)) &&
            depths.of(i.getOperand(1), block) > depths.of(i.getOperand(0), block)) {
            i.getOperandUse(0).swap(i.getOperandUse(1));
        }
    }
}

}  // namespace

void put_late_products_first(llvm::Module &module) {
    for (llvm::Function &function : module) {
        for (llvm::BasicBlock &block : function) {
            order_products(block);
        }
    }
}

}  // namespace calotype::internal
