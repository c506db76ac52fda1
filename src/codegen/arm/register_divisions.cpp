// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/arm/register_divisions.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

#include <algorithm>
#include <vector>

namespace calotype::internal {

namespace {

/// Bits of a register of NEON.
constexpr unsigned register_bits = 128;

/// How many lanes a register has of what is divided lane by lane; 0 if it is something else.
unsigned lanes_of_register(const llvm::Instruction &i) {
    const auto *type = llvm::dyn_cast<llvm::FixedVectorType>(i.getType());
    if (!i.isIntDivRem() || !type || !llvm::isa<llvm::Constant>(i.getOperand(1))) {
        return 0;
    }
    const unsigned bits = type->getScalarSizeInBits();
    const unsigned lanes = bits == 8 || bits == 16 ? register_bits / bits : 0;
    return lanes && type->getNumElements() > lanes ? lanes : 0;
}

llvm::Value *by_registers(llvm::BinaryOperator &division, unsigned lanes) {
    llvm::IRBuilder<> b(&division);
    const unsigned all = llvm::cast<llvm::FixedVectorType>(division.getType())->getNumElements();
    std::vector<llvm::Value *> parts;
    for (unsigned i = 0; i < all; i += lanes) {
        const auto mask = llvm::createSequentialMask(i, std::min(lanes, all - i), 0);
        parts.push_back(b.CreateBinOp(division.getOpcode(),
                                      b.CreateShuffleVector(division.getOperand(0), mask),
                                      b.CreateShuffleVector(division.getOperand(1), mask)));
    }
    return llvm::concatenateVectors(b, parts);
}

}  // namespace

void divide_by_registers(llvm::Module &module) {
    for (llvm::Function &function : module) {
        std::vector<llvm::BinaryOperator *> divisions;
        for (llvm::Instruction &i : llvm::instructions(function)) {
            if (lanes_of_register(i)) {
                divisions.push_back(llvm::cast<llvm::BinaryOperator>(&i));
            }
        }
        for (llvm::BinaryOperator *division : divisions) {
            division->replaceAllUsesWith(by_registers(*division, lanes_of_register(*division)));
            division->eraseFromParent();
        }
    }
}

}  // namespace calotype::internal
