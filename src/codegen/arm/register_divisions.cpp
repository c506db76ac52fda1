// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/arm/register_divisions.h"

#include <llvm/IR/InstIterator.h>

#include <vector>

#include "codegen/arm/registers.h"

namespace calotype::internal {

namespace {

/// Whether it would be divided lane by lane.
bool is_longer_than_a_register(const llvm::Instruction &i) {
    const auto *type = llvm::dyn_cast<llvm::FixedVectorType>(i.getType());
    const unsigned bits = i.getType()->getScalarSizeInBits();
    return i.isIntDivRem() && type && llvm::isa<llvm::Constant>(i.getOperand(1)) &&
           (bits == 8 || bits == 16) && type->getNumElements() > lanes_of_register(bits);
}

llvm::Value *divided(llvm::BinaryOperator &division) {
    llvm::IRBuilder<> b(&division);
    std::vector<llvm::Value *> parts = by_registers(b, division.getOperand(0));
    const std::vector<llvm::Value *> divisors = by_registers(b, division.getOperand(1));
    for (size_t i = 0; i < parts.size(); i++) {
        parts[i] = b.CreateBinOp(division.getOpcode(), parts[i], divisors[i]);
    }
    return llvm::concatenateVectors(b, parts);
}

}  // namespace

void divide_by_registers(llvm::Module &module) {
    for (llvm::Function &function : module) {
        std::vector<llvm::BinaryOperator *> divisions;
        for (llvm::Instruction &i : llvm::instructions(function)) {
            if (is_longer_than_a_register(i)) {
                divisions.push_back(llvm::cast<llvm::BinaryOperator>(&i));
            }
        }
        for (llvm::BinaryOperator *division : divisions) {
            division->replaceAllUsesWith(divided(*division));
            division->eraseFromParent();
        }
    }
}

}  // namespace calotype::internal
