// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/nvptx/faults/llvm_faults.h"

#include <algorithm>
#include <vector>

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

#include "codegen/llvm/types.h"

namespace calotype::internal {

namespace {

using llvm::Value;

constexpr unsigned lanes_at_once = 8, lanes_of_an_access = 16;

bool is_loaded_wrong(const llvm::LoadInst &load) {
    const auto *type = llvm::dyn_cast<llvm::FixedVectorType>(load.getType());
    return type && type->getElementType()->isIntegerTy(8) &&
           type->getNumElements() > lanes_at_once && load.getAlign() < lanes_of_an_access &&
           load.isSimple();
}

Value *loaded_in_parts(llvm::LoadInst &load) {
    llvm::IRBuilder<> b(&load);
    const unsigned lanes = unsigned(lanes_of(load.getType()));
    std::vector<Value *> parts;
    for (unsigned i = 0; i < lanes; i += lanes_at_once) {
        const unsigned n = std::min(lanes_at_once, lanes - i);
        Value *from = b.CreateConstGEP1_32(b.getInt8Ty(), load.getPointerOperand(), i);
        llvm::LoadInst *part = b.CreateAlignedLoad(llvm::FixedVectorType::get(b.getInt8Ty(), n),
                                                   from, llvm::commonAlignment(load.getAlign(), i));
        part->copyMetadata(load);
        parts.push_back(part);
    }
    return llvm::concatenateVectors(b, parts);
}

}  // namespace

void avoid_llvm_faults(llvm::Module &module) {
    std::vector<llvm::LoadInst *> wrong;
    for (llvm::Function &f : module) {
        for (llvm::Instruction &i : llvm::instructions(f)) {
            if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&i); load && is_loaded_wrong(*load)) {
                wrong.push_back(load);
            }
        }
    }
    for (llvm::LoadInst *load : wrong) {
        load->replaceAllUsesWith(loaded_in_parts(*load));
        load->eraseFromParent();
    }
}

}  // namespace calotype::internal
