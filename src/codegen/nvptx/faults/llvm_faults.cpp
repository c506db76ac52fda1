// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/nvptx/faults/llvm_faults.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

namespace calotype::internal {

namespace {

using llvm::Value;

constexpr unsigned lanes_at_once = 8, lanes_of_an_access = 16;

unsigned lanes(const Value *v) {
    return llvm::cast<llvm::FixedVectorType>(v->getType())->getNumElements();
}

bool is_loaded_wrong(const llvm::LoadInst &load) {
    const auto *type = llvm::dyn_cast<llvm::FixedVectorType>(load.getType());
    return type && type->getElementType()->isIntegerTy(8) &&
           type->getNumElements() > lanes_at_once && load.getAlign() < lanes_of_an_access &&
           load.isSimple();
}

std::vector<int> lanes_from(unsigned first, unsigned count) {
    std::vector<int> all(count);
    std::iota(all.begin(), all.end(), int(first));
    return all;
}

/// b's lanes after a's.
Value *joined(llvm::IRBuilder<> &b, Value *first, Value *second) {
    const unsigned n = lanes(first), more = lanes(second);
    if (more < n) {
        std::vector<int> wider = lanes_from(0, more);
        wider.resize(n, llvm::PoisonMaskElem);
        second = b.CreateShuffleVector(second, wider);
    }
    return b.CreateShuffleVector(first, second, lanes_from(0, n + more));
}

Value *loaded_in_parts(llvm::LoadInst &load) {
    llvm::IRBuilder<> b(&load);
    Value *all = nullptr;
    for (unsigned i = 0; i < lanes(&load); i += lanes_at_once) {
        const unsigned n = std::min(lanes_at_once, lanes(&load) - i);
        Value *from = b.CreateConstGEP1_32(b.getInt8Ty(), load.getPointerOperand(), i);
        llvm::LoadInst *part = b.CreateAlignedLoad(llvm::FixedVectorType::get(b.getInt8Ty(), n),
                                                   from, llvm::commonAlignment(load.getAlign(), i));
        part->copyMetadata(load);
        all = all ? joined(b, all, part) : part;
    }
    return all;
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
