// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/llvm/passes/lane_gathers.h"

#include <map>

#include <llvm/IR/IntrinsicInst.h>

#include "codegen/llvm/types.h"

namespace calotype::internal {

using llvm::Value;

namespace {

/// An attribute of the call: metadata is dropped where LLVM makes one of two equal gathers.
constexpr const char *mark = "calotype.by_lanes";

/// One address to which a vector of indices is added; null if pointers are another thing.
llvm::GetElementPtrInst *sum_of(Value *pointers) {
    auto *gep = llvm::dyn_cast<llvm::GetElementPtrInst>(pointers);
    const bool is_sum =
        gep && gep->getNumIndices() == 1 && !gep->getPointerOperand()->getType()->isVectorTy();
    return is_sum ? gep : nullptr;
}

/// The index in 32 bits, if it is one of as many or fewer that was extended.
Value *narrowed(llvm::IRBuilderBase &b, Value *index) {
    auto *extension = llvm::dyn_cast<llvm::CastInst>(index);
    if (!extension || !llvm::isa<llvm::SExtInst, llvm::ZExtInst>(extension)) {
        return index;
    }
    Value *narrow = extension->getOperand(0);
    const unsigned bits = narrow->getType()->getScalarSizeInBits();
    if (bits < 32) {
        llvm::Type *type = with_lanes(b.getInt32Ty(), lanes_of(narrow->getType()));
        return b.CreateCast(extension->getOpcode(), narrow, type);
    }
    const bool is_signed = llvm::isa<llvm::SExtInst>(extension) || extension->hasNonNeg();
    return bits == 32 && is_signed ? narrow : index;
}

/// Takes gathers of one block apart; those that share an index share its lanes.
class Block {
public:
    void take_apart(llvm::IntrinsicInst &gather) {
        llvm::IRBuilder<> b(&gather);
        llvm::Type *element = gather.getType()->getScalarType();
        const llvm::MaybeAlign align =
            llvm::cast<llvm::ConstantInt>(gather.getOperand(1))->getMaybeAlignValue();
        Value *result = llvm::PoisonValue::get(gather.getType());
        uint64_t i = 0;
        for (Value *pointer : pointers(b, gather.getOperand(0))) {
            auto *load = b.CreateAlignedLoad(element, pointer, align);
            load->copyMetadata(gather,
                               {llvm::LLVMContext::MD_tbaa, llvm::LLVMContext::MD_alias_scope,
                                llvm::LLVMContext::MD_noalias});
            result = b.CreateInsertElement(result, load, i++);
        }
        gather.replaceAllUsesWith(result);
        gather.eraseFromParent();
    }

private:
    std::vector<Value *> pointers(llvm::IRBuilder<> &b, Value *vector) {
        std::vector<Value *> result;
        const llvm::GetElementPtrInst *sum = sum_of(vector);
        if (!sum) {
            for (int i = 0; i < lanes_of(vector->getType()); i++) {
                result.push_back(b.CreateExtractElement(vector, uint64_t(i)));
            }
            return result;
        }
        std::vector<Value *> &lanes = lanes_[sum->getOperand(1)];
        if (lanes.empty()) {
            lanes = index_lanes(b, narrowed(b, sum->getOperand(1)));
        }
        Value *base = sum->getOperand(0);
        for (Value *lane : lanes) {
            result.push_back(b.CreateGEP(sum->getSourceElementType(), base, lane));
        }
        return result;
    }

    std::map<const Value *, std::vector<Value *>> lanes_;
};

bool is_marked(const llvm::Instruction &i) {
    const auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
    return call && call->getIntrinsicID() == llvm::Intrinsic::masked_gather &&
           call->getAttributes().hasFnAttr(mark);
}

}  // namespace

std::vector<Value *> index_lanes(llvm::IRBuilderBase &b, Value *index) {
    const int lanes = lanes_of(index->getType());
    llvm::Type *i64 = b.getInt64Ty();
    std::vector<Value *> result;
    if (lanes % 2 == 0 && index->getType()->getScalarSizeInBits() == 32) {
        Value *pairs = b.CreateBitCast(index, with_lanes(i64, lanes / 2));
        for (int i = 0; i < lanes / 2; i++) {
            Value *pair = lanes == 2 ? pairs : b.CreateExtractElement(pairs, uint64_t(i));
            result.push_back(b.CreateSExt(b.CreateTrunc(pair, b.getInt32Ty()), i64));
            result.push_back(b.CreateAShr(pair, 32));
        }
        return result;
    }
    for (int i = 0; i < lanes; i++) {
        result.push_back(b.CreateSExtOrTrunc(b.CreateExtractElement(index, uint64_t(i)), i64));
    }
    return result;
}

void mark_for_lanes(llvm::CallInst &gather) {
    gather.addFnAttr(llvm::Attribute::get(gather.getContext(), mark));
}

void take_lanes_apart(llvm::Module &module) {
    for (llvm::Function &function : module) {
        for (llvm::BasicBlock &block : function) {
            Block apart;
            for (llvm::Instruction &i : llvm::make_early_inc_range(block)) {
                if (is_marked(i)) {
                    apart.take_apart(llvm::cast<llvm::IntrinsicInst>(i));
                }
            }
        }
    }
}

}  // namespace calotype::internal
