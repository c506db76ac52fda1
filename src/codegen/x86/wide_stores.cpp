// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/x86/wide_stores.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

#include "target/registers.h"

namespace calotype::internal {

namespace {

/// Of a vector of whole bytes that takes more than one register; null if it is none.
const llvm::FixedVectorType *wide_vector(const llvm::Value &v, unsigned register_bits) {
    const auto *type = llvm::dyn_cast<llvm::FixedVectorType>(v.getType());
    const bool has_bytes = type && type->getScalarSizeInBits() % 8 == 0;
    return has_bytes && type->getScalarSizeInBits() * type->getNumElements() > register_bits
               ? type
               : nullptr;
}

/// Lanes begin to begin + count.
llvm::Value *part_of(llvm::IRBuilder<> &b, llvm::Value *v, unsigned begin, unsigned count) {
    std::vector<int> lanes(count);
    std::iota(lanes.begin(), lanes.end(), int(begin));
    return b.CreateShuffleVector(v, lanes);
}

void store_in_parts(llvm::StoreInst *store, const llvm::FixedVectorType &type,
                    unsigned register_bits) {
    llvm::IRBuilder<> b(store);
    const unsigned bytes = type.getScalarSizeInBits() / 8, lanes = type.getNumElements();
    const unsigned most = register_bits / 8 / bytes;
    for (unsigned begin = 0; begin < lanes; begin += most) {
        llvm::Value *part =
            part_of(b, store->getValueOperand(), begin, std::min(most, lanes - begin));
        llvm::Value *to = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), store->getPointerOperand(),
                                                       uint64_t(begin) * bytes);
        const llvm::Align align = llvm::commonAlignment(store->getAlign(), uint64_t(begin) * bytes);
        b.CreateAlignedStore(part, to, align)->copyMetadata(*store);
    }
    store->eraseFromParent();
}

}  // namespace

void store_registers_in_order(llvm::Module &module, const Target &target) {
    const auto bits = unsigned(std::max(vector_register_bits(target, true), 128));
    for (llvm::Function &function : module) {
        std::vector<llvm::StoreInst *> wide;
        for (llvm::Instruction &i : llvm::instructions(function)) {
            auto *store = llvm::dyn_cast<llvm::StoreInst>(&i);
            if (store && store->isSimple() && wide_vector(*store->getValueOperand(), bits)) {
                wide.push_back(store);
            }
        }
        for (llvm::StoreInst *store : wide) {
            store_in_parts(store, *wide_vector(*store->getValueOperand(), bits), bits);
        }
    }
}

}  // namespace calotype::internal
