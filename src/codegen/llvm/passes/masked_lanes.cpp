// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/llvm/passes/masked_lanes.h"

#include <vector>

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "codegen/llvm/types.h"

namespace calotype::internal {

using llvm::Value;

namespace {

/// What an access has, whichever of the four intrinsics it is.
struct Access {
    llvm::IntrinsicInst *call;
    Value *pointers;  ///< of each lane, or of the first one
    Value *mask;
    Value *value;  ///< what is stored, or what lanes that are left out have
    llvm::VectorType *type;
    llvm::Align align;
    bool is_store;
};

llvm::Align alignment_in(const llvm::IntrinsicInst &call, unsigned argument) {
    return llvm::cast<llvm::ConstantInt>(call.getArgOperand(argument))->getAlignValue();
}

/// With a null call if it is no access under a mask.
Access access_of(llvm::Instruction &i) {
    auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
    const llvm::Intrinsic::ID id = call ? call->getIntrinsicID() : llvm::Intrinsic::not_intrinsic;
    if (id == llvm::Intrinsic::masked_gather || id == llvm::Intrinsic::masked_load) {
        return {call,
                call->getArgOperand(0),
                call->getArgOperand(2),
                call->getArgOperand(3),
                llvm::cast<llvm::VectorType>(call->getType()),
                alignment_in(*call, 1),
                false};
    }
    if (id == llvm::Intrinsic::masked_scatter || id == llvm::Intrinsic::masked_store) {
        Value *value = call->getArgOperand(0);
        return {call,
                call->getArgOperand(1),
                call->getArgOperand(3),
                value,
                llvm::cast<llvm::VectorType>(value->getType()),
                alignment_in(*call, 2),
                true};
    }
    return {};
}

/// Whether code generation would ask for each lane.
bool has_no_instruction(const Access &a, const llvm::TargetTransformInfo &processor) {
    switch (a.call->getIntrinsicID()) {
    case llvm::Intrinsic::masked_gather:
        return !processor.isLegalMaskedGather(a.type, a.align) ||
               processor.forceScalarizeMaskedGather(a.type, a.align);
    case llvm::Intrinsic::masked_scatter:
        return !processor.isLegalMaskedScatter(a.type, a.align) ||
               processor.forceScalarizeMaskedScatter(a.type, a.align);
    case llvm::Intrinsic::masked_load:
        return !processor.isLegalMaskedLoad(a.type, a.align);
    default:
        return !processor.isLegalMaskedStore(a.type, a.align);
    }
}

/// How many lanes of a function may have blocks of their own.
constexpr int most_lanes_with_blocks = 1024;

/// Whether a mask is made of constants and of what all its lanes have in common, as the one of the last vector of a row. It is
/// the same again and again, so that processors foresee branches on its lanes.
bool repeats(const Value *mask, int depth = 0) {
    constexpr int most_operands_deep = 8;
    const auto *i = llvm::dyn_cast<llvm::Instruction>(mask);
    if (llvm::isa<llvm::Constant>(mask) || llvm::isSplatValue(mask)) {
        return true;
    }
    const bool is_of_lanes = i && (llvm::isa<llvm::CmpInst>(i) || i->isBinaryOp() || i->isCast() ||
                                   llvm::isa<llvm::ShuffleVectorInst>(i));
    return is_of_lanes && depth < most_operands_deep &&
           llvm::all_of(i->operands(), [&](const Value *v) { return repeats(v, depth + 1); });
}

/// Makes lanes of accesses to one function.
class Lanes {
public:
    explicit Lanes(llvm::Function &function) : function_(function) {
    }

    void take_apart(const Access &a) {
        llvm::IRBuilder<> b(a.call);
        Value *all = b.CreateAndReduce(a.mask);
        llvm::Instruction *in_all = nullptr, *in_some = nullptr;
        llvm::SplitBlockAndInsertIfThenElse(all, a.call, &in_all, &in_some);
        b.SetInsertPoint(in_all);
        Value *whole = is_dense(a) ? whole_access(b, a) : by_lanes(b, a, a.pointers);
        b.SetInsertPoint(in_some);
        // At once: of single pointers x86 would make branches again.
        Value *places = b.CreateSelect(a.mask, pointers(b, a),
                                       b.CreateVectorSplat(unsigned(lanes_of(a.type)), nowhere()));
        Value *some = by_lanes(b, a, places);
        if (!a.is_store) {
            some =
                llvm::isa<llvm::UndefValue>(a.value) ? some : b.CreateSelect(a.mask, some, a.value);
            b.SetInsertPoint(a.call);
            llvm::PHINode *result = b.CreatePHI(a.type, 2);
            result->addIncoming(whole, in_all->getParent());
            result->addIncoming(some, in_some->getParent());
            a.call->replaceAllUsesWith(result);
        }
        a.call->eraseFromParent();
    }

private:
    static bool is_dense(const Access &a) {
        return !a.pointers->getType()->isVectorTy();
    }

    static Value *whole_access(llvm::IRBuilderBase &b, const Access &a) {
        llvm::Instruction *access = nullptr;
        if (a.is_store) {
            access = b.CreateAlignedStore(a.value, a.pointers, a.align);
        } else {
            access = b.CreateAlignedLoad(a.type, a.pointers, a.align);
        }
        access->setAAMetadata(a.call->getAAMetadata());
        return access;
    }

    /// What is loaded, if it is no store.
    static Value *by_lanes(llvm::IRBuilderBase &b, const Access &a, Value *places) {
        llvm::Type *element = a.type->getElementType();
        const llvm::Align align = lane_alignment(a, element);
        const llvm::AAMDNodes tags = a.call->getAAMetadata();
        Value *result = llvm::PoisonValue::get(a.type);
        for (int i = 0; i < lanes_of(a.type); i++) {
            Value *place = b.CreateExtractElement(places, uint64_t(i));
            if (a.is_store) {
                Value *value = b.CreateExtractElement(a.value, uint64_t(i));
                b.CreateAlignedStore(value, place, align)->setAAMetadata(tags);
            } else {
                llvm::LoadInst *load = b.CreateAlignedLoad(element, place, align);
                load->setAAMetadata(tags);
                result = b.CreateInsertElement(result, load, uint64_t(i));
            }
        }
        return result;
    }

    static Value *pointers(llvm::IRBuilderBase &b, const Access &a) {
        if (!is_dense(a)) {
            return a.pointers;
        }
        std::vector<llvm::Constant *> steps;
        for (int i = 0; i < lanes_of(a.type); i++) {
            steps.push_back(b.getInt64(uint64_t(i)));
        }
        return b.CreateGEP(a.type->getElementType(), a.pointers, llvm::ConstantVector::get(steps));
    }

    /// The alignment of a dense access is that of its first lane.
    static llvm::Align lane_alignment(const Access &a, llvm::Type *element) {
        return is_dense(a) ? llvm::commonAlignment(a.align, element->getScalarSizeInBits() / 8)
                           : a.align;
    }

    /// Of lanes that are left out.
    Value *nowhere() {
        if (!nowhere_) {
            llvm::BasicBlock &entry = function_.getEntryBlock();
            llvm::IRBuilder<> b(&entry, entry.begin());
            nowhere_ = b.CreateAlloca(b.getInt64Ty(), nullptr, "nowhere");
        }
        return nowhere_;
    }

    llvm::Function &function_;
    Value *nowhere_ = nullptr;
};

}  // namespace

void access_lanes_without_branches(llvm::Module &module, llvm::TargetMachine &machine) {
    for (llvm::Function &function : module) {
        if (function.isDeclaration()) {
            continue;
        }
        const llvm::TargetTransformInfo processor = machine.getTargetTransformInfo(function);
        std::vector<llvm::Instruction *> accesses, foreseen;
        int lanes_foreseen = 0;
        for (llvm::BasicBlock &block : function) {
            for (llvm::Instruction &i : block) {
                const Access a = access_of(i);
                const bool has_blocks = a.call && !llvm::isa<llvm::Constant>(a.mask) &&
                                        a.type->getElementType()->getScalarSizeInBits() <= 64 &&
                                        has_no_instruction(a, processor);
                if (has_blocks && repeats(a.mask)) {
                    foreseen.push_back(&i);
                    lanes_foreseen += lanes_of(a.type);
                } else if (has_blocks) {
                    accesses.push_back(&i);
                }
            }
        }
        if (lanes_foreseen > most_lanes_with_blocks) {
            accesses.insert(accesses.end(), foreseen.begin(), foreseen.end());
        }
        Lanes lanes(function);
        for (llvm::Instruction *access : accesses) {
            lanes.take_apart(access_of(*access));
        }
    }
}

}  // namespace calotype::internal
