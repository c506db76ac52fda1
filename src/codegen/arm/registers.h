// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The vector registers of NEON.
#pragma once

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>

#include <algorithm>
#include <vector>

namespace calotype::internal {

constexpr int register_bits = 128;

/// Of a type of lanes of so many bits: how many a register has.
inline unsigned lanes_of_register(unsigned bits) {
    return register_bits / bits;
}

/// A vector as parts of one register each; the last may have fewer lanes.
inline std::vector<llvm::Value *> by_registers(llvm::IRBuilder<> &b, llvm::Value *vector) {
    const auto *type = llvm::cast<llvm::FixedVectorType>(vector->getType());
    const unsigned all = type->getNumElements(),
                   lanes = lanes_of_register(type->getScalarSizeInBits());
    std::vector<llvm::Value *> parts;
    for (unsigned i = 0; i < all; i += lanes) {
        parts.push_back(b.CreateShuffleVector(
            vector, llvm::createSequentialMask(i, std::min(lanes, all - i), 0)));
    }
    return parts;
}

}  // namespace calotype::internal
