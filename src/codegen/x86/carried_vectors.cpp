// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/x86/carried_vectors.h"

#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Support/MathExtras.h>

#include "codegen/llvm/types.h"
#include "codegen/x86/features.h"
#include "codegen/x86/machine.h"

namespace calotype::internal {

namespace {

using llvm::Value;

class Carrier {
public:
    Carrier(llvm::Function &function, bool has_masks, int vector_bits)
        : function_(function), has_masks_(has_masks), vector_bits_(vector_bits) {
    }

    void run() {
        std::vector<llvm::PHINode *> phis;
        for (llvm::Instruction &i : llvm::instructions(function_)) {
            auto *phi = llvm::dyn_cast<llvm::PHINode>(&i);
            if (phi && carried(phi->getType())) {
                phis.push_back(phi);
            }
        }
        for (llvm::PHINode *phi : phis) {
            take_phi(*phi);
        }
        std::vector<llvm::Instruction *> leaving;
        for (llvm::Instruction &i : llvm::instructions(function_)) {
            if (carried(i.getType()) && !i.isTerminator() &&
                i.isUsedOutsideOfBlock(i.getParent())) {
                leaving.push_back(&i);
            }
        }
        for (llvm::Instruction *i : leaving) {
            take(*i);
        }
    }

private:
    /// The type that values go between blocks as; null: as they are.
    llvm::Type *carried(llvm::Type *type) const {
        if (!llvm::isa<llvm::FixedVectorType>(type) || type->isPtrOrPtrVectorTy()) {
            return nullptr;
        }
        const int lanes = lanes_of(type), whole = int(llvm::PowerOf2Ceil(uint64_t(lanes)));
        const bool is_mask = type->getScalarType()->isIntegerTy(1);
        const bool as_bytes = is_mask && !has_masks_ && whole * 8 > vector_bits_;
        if (lanes == whole && !as_bytes) {
            return nullptr;
        }
        llvm::Type *element =
            as_bytes ? llvm::Type::getInt8Ty(type->getContext()) : type->getScalarType();
        return llvm::FixedVectorType::get(element, unsigned(whole));
    }

    static Value *first_lanes(llvm::IRBuilder<> &b, Value *v, int lanes) {
        std::vector<int> indices(size_t(lanes), -1);
        const int known = std::min(lanes, lanes_of(v->getType()));
        std::iota(indices.begin(), indices.begin() + known, 0);
        return lanes == lanes_of(v->getType()) ? v : b.CreateShuffleVector(v, indices);
    }

    /// In its carried form, in which it came if it did.
    Value *wrapped(llvm::IRBuilder<> &b, Value *v) {
        const auto known = wrapped_.find(v);
        if (known != wrapped_.end()) {
            return known->second;
        }
        llvm::Type *type = carried(v->getType());
        if (v->getType()->getScalarType() != type->getScalarType()) {
            v = b.CreateSExt(v, with_lanes(type, lanes_of(v->getType())));
        }
        return first_lanes(b, v, lanes_of(type));
    }

    static Value *unwrapped(llvm::IRBuilder<> &b, Value *v, llvm::Type *type) {
        v = first_lanes(b, v, lanes_of(type));
        return v->getType() == type
                   ? v
                   : b.CreateICmpSLT(v, llvm::Constant::getNullValue(v->getType()));
    }

    void take_phi(llvm::PHINode &phi) {
        llvm::IRBuilder<> b(&phi);
        llvm::PHINode *whole = b.CreatePHI(carried(phi.getType()), phi.getNumIncomingValues());
        b.SetInsertPoint(&*phi.getParent()->getFirstInsertionPt());
        Value *part = unwrapped(b, whole, phi.getType());
        wrapped_[part] = whole;
        phi.replaceAllUsesWith(part);
        std::map<llvm::BasicBlock *, Value *> incoming;  // the same from a block that comes twice
        for (unsigned i = 0; i < phi.getNumIncomingValues(); i++) {
            llvm::BasicBlock *from = phi.getIncomingBlock(i);
            Value *&value = incoming[from];
            if (!value) {
                b.SetInsertPoint(from->getTerminator());
                value = wrapped(b, phi.getIncomingValue(i));
            }
            whole->addIncoming(value, from);
        }
        phi.eraseFromParent();
    }

    /// What other blocks use of an instruction. There are no phis among them any more.
    void take(llvm::Instruction &i) {
        llvm::IRBuilder<> b(i.getParent(), std::next(i.getIterator()));
        Value *whole = wrapped(b, &i);
        std::map<llvm::BasicBlock *, Value *> parts;
        std::vector<llvm::Use *> uses;
        for (llvm::Use &use : i.uses()) {
            if (llvm::cast<llvm::Instruction>(use.getUser())->getParent() != i.getParent()) {
                uses.push_back(&use);
            }
        }
        for (llvm::Use *use : uses) {
            llvm::BasicBlock *block = llvm::cast<llvm::Instruction>(use->getUser())->getParent();
            Value *&part = parts[block];
            if (!part) {
                b.SetInsertPoint(&*block->getFirstInsertionPt());
                part = unwrapped(b, whole, i.getType());
            }
            use->set(part);
        }
    }

    llvm::Function &function_;
    const bool has_masks_;
    const int vector_bits_;
    std::map<Value *, Value *> wrapped_;
};

}  // namespace

void carry_whole_registers(llvm::Module &module, const Target &target) {
    const int vector_bits = x86_machine().llvm_target(target).vector_bits;
    for (llvm::Function &function : module) {
        Carrier(function, x86_has_narrow_and_long_lanes(target), vector_bits).run();
    }
}

}  // namespace calotype::internal
