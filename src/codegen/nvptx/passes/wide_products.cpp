// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/nvptx/passes/wide_products.h"

#include <vector>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

namespace calotype::internal {

namespace {

/// The extension of a byte, or null.
llvm::CastInst *extended_byte(llvm::Value *v) {
    auto *cast = llvm::dyn_cast<llvm::CastInst>(v);
    const bool is_extension =
        cast && (llvm::isa<llvm::SExtInst>(cast) || llvm::isa<llvm::ZExtInst>(cast));
    return is_extension && cast->getSrcTy()->getScalarSizeInBits() == 8 ? cast : nullptr;
}

/// The product of two bytes whose value, of either sign, an extension keeps; or null.
llvm::BinaryOperator *extended_product(llvm::CastInst &extension) {
    auto *product = llvm::dyn_cast<llvm::BinaryOperator>(extension.getOperand(0));
    if (!product || product->getOpcode() != llvm::Instruction::Mul ||
        product->getType()->getScalarSizeInBits() != 16) {
        return nullptr;
    }
    const llvm::CastInst *a = extended_byte(product->getOperand(0));
    const llvm::CastInst *b = extended_byte(product->getOperand(1));
    if (!a || !b) {
        return nullptr;
    }
    const bool is_signed = llvm::isa<llvm::SExtInst>(a) || llvm::isa<llvm::SExtInst>(b);
    const bool is_kept = llvm::isa<llvm::SExtInst>(extension)   ? is_signed
                         : llvm::isa<llvm::ZExtInst>(extension) ? !is_signed
                                                                : false;
    return is_kept ? product : nullptr;
}

void widen(llvm::CastInst *extension, llvm::BinaryOperator *product) {
    llvm::IRBuilder<> b(extension);
    const auto factor = [&](unsigned i) {
        auto *byte = llvm::cast<llvm::CastInst>(product->getOperand(i));
        return b.CreateCast(byte->getOpcode(), byte->getOperand(0), extension->getType());
    };
    llvm::Value *first = factor(0);
    extension->replaceAllUsesWith(b.CreateNSWMul(first, factor(1)));
    extension->eraseFromParent();
}

}  // namespace

void widen_products(llvm::Module &module) {
    std::vector<llvm::CastInst *> extensions;
    for (llvm::Function &function : module) {
        for (llvm::Instruction &i : llvm::instructions(function)) {
            auto *cast = llvm::dyn_cast<llvm::CastInst>(&i);
            if (cast && cast->getType()->getScalarSizeInBits() == 32 && extended_product(*cast)) {
                extensions.push_back(cast);
            }
        }
    }
    for (llvm::CastInst *extension : extensions) {
        widen(extension, extended_product(*extension));
    }
}

}  // namespace calotype::internal
