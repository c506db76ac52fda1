// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/nvptx/passes/warp_atomics.h"

#include <unordered_map>
#include <vector>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "codegen/nvptx/warp_shuffle.h"
#include "ir/conventions/kernels.h"

namespace calotype::internal {

namespace {

using Operation = llvm::AtomicRMWInst::BinOp;

/// Whether values are the same in all threads of a block whenever they are computed: made of arguments, constants and
/// the number of the block. Counters of loops are not, as lanes may be in different iterations.
class SameInBlock {
public:
    bool operator()(const llvm::Value *v) {
        if (llvm::isa<llvm::Constant>(v) || llvm::isa<llvm::Argument>(v)) {
            return true;
        }
        const auto *i = llvm::dyn_cast<llvm::Instruction>(v);
        if (!i) {
            return false;
        }
        const auto known = known_.find(i);
        if (known != known_.end()) {
            return known->second;
        }
        const bool result = is_block_index(i) || (is_arithmetic(i) && all_operands(i));
        known_[i] = result;
        return result;
    }

private:
    static bool is_block_index(const llvm::Instruction *i) {
        const auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(i);
        switch (call ? call->getIntrinsicID() : llvm::Intrinsic::not_intrinsic) {
        case llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x:
        case llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_y:
        case llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_z:
            return true;
        default:
            return false;
        }
    }
    static bool is_arithmetic(const llvm::Instruction *i) {
        return llvm::isa<llvm::BinaryOperator>(i) || llvm::isa<llvm::CastInst>(i) ||
               llvm::isa<llvm::GetElementPtrInst>(i) || llvm::isa<llvm::SelectInst>(i) ||
               llvm::isa<llvm::CmpInst>(i) || is_minimum(i);
    }
    static bool is_minimum(const llvm::Instruction *i) {
        return llvm::isa<llvm::MinMaxIntrinsic>(i);
    }
    bool all_operands(const llvm::Instruction *i) {
        const auto *call = llvm::dyn_cast<llvm::CallInst>(i);
        return call ? llvm::all_of(call->args(), [&](const llvm::Use &u) { return (*this)(u); })
                    : llvm::all_of(i->operands(), [&](const llvm::Use &u) { return (*this)(u); });
    }

    std::unordered_map<const llvm::Instruction *, bool> known_;
};

bool is_combined(const llvm::AtomicRMWInst &update) {
    const unsigned bits = update.getType()->getPrimitiveSizeInBits();
    switch (update.getOperation()) {
    case Operation::Add:
    case Operation::FAdd:
    case Operation::Min:
    case Operation::Max:
    case Operation::UMin:
    case Operation::UMax:
    case Operation::FMin:
    case Operation::FMax:
        return update.use_empty() && (bits == 32 || bits == 64);
    default:
        return false;
    }
}

class WarpUpdate {
public:
    explicit WarpUpdate(llvm::AtomicRMWInst *update) : update_(update), b_(update) {
    }

    void make() {
        llvm::Value *all = b_.CreateICmpEQ(active_lanes(), b_.getInt32(whole_warp));
        llvm::Instruction *together = nullptr, *alone = nullptr;
        llvm::SplitBlockAndInsertIfThenElse(all, update_, &together, &alone);
        b_.SetInsertPoint(together);
        llvm::Value *sum = update_->getValOperand();
        for (int distance = 16; distance > 0; distance /= 2) {
            sum = combined(sum, exchanged(sum, distance));
        }
        llvm::Value *lane =
            b_.CreateIntrinsic(b_.getInt32Ty(), llvm::Intrinsic::nvvm_read_ptx_sreg_laneid, {});
        llvm::Instruction *one =
            llvm::SplitBlockAndInsertIfThen(b_.CreateICmpEQ(lane, b_.getInt32(0)), together, false);
        llvm::Instruction *copy = update_->clone();
        copy->setOperand(1, sum);
        copy->insertBefore(one);
        update_->moveBefore(alone);
    }

private:
    llvm::Value *active_lanes() {
        auto *type = llvm::FunctionType::get(b_.getInt32Ty(), false);
        llvm::CallInst *call = b_.CreateCall(
            llvm::InlineAsm::get(type, "activemask.b32 $0;", "=r", /* hasSideEffects */ true));
        call->setConvergent();
        return call;
    }

    llvm::Value *exchanged(llvm::Value *v, int distance) {
        return shuffle_scalar(b_, v,
                              {b_.getInt32(uint32_t(distance)), WarpShuffle::Butterfly, warp_size});
    }

    llvm::Value *combined(llvm::Value *a, llvm::Value *b) {
        switch (update_->getOperation()) {
        case Operation::FAdd:
            return b_.CreateFAdd(a, b);
        case Operation::FMin:
            return b_.CreateMinNum(a, b);
        case Operation::FMax:
            return b_.CreateMaxNum(a, b);
        case Operation::Min:
            return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b);
        case Operation::Max:
            return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b);
        case Operation::UMin:
            return b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, a, b);
        case Operation::UMax:
            return b_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, a, b);
        default:
            return b_.CreateAdd(a, b);
        }
    }

    llvm::AtomicRMWInst *update_;
    llvm::IRBuilder<> b_;
};

}  // namespace

void update_once_a_warp(llvm::Module &module) {
    for (llvm::Function &f : module) {
        SameInBlock same;
        std::vector<llvm::AtomicRMWInst *> updates;
        if (f.getCallingConv() == llvm::CallingConv::PTX_Kernel) {
            for (llvm::Instruction &i : llvm::instructions(f)) {
                auto *update = llvm::dyn_cast<llvm::AtomicRMWInst>(&i);
                if (update && is_combined(*update) && same(update->getPointerOperand())) {
                    updates.push_back(update);
                }
            }
        }
        for (llvm::AtomicRMWInst *update : updates) {
            WarpUpdate(update).make();
        }
    }
}

}  // namespace calotype::internal
