// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Indices, barriers, shuffles and dot products.
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "codegen/llvm/emitter.h"
#include "codegen/nvptx/machine.h"
#include "codegen/nvptx/warp_shuffle.h"
#include "ir/constants.h"
#include "ir/conventions/kernels.h"
#include "ir/language/match_types.h"
#include "support/error.h"

namespace calotype::internal {

using llvm::Value;
namespace N = llvm::Intrinsic;

namespace {

int constant_argument(const Call *op, size_t i) {
    auto value = as_const_int(op->args.at(i));
    internal_assert(value) << "argument " << i << " of " << op->name << " must be constant";
    return int(*value);
}

}  // namespace

Value *emit_gpu_index(FunctionEmitter &f, const Call *op) {
    static const N::ID blocks[] = {N::nvvm_read_ptx_sreg_ctaid_x, N::nvvm_read_ptx_sreg_ctaid_y,
                                   N::nvvm_read_ptx_sreg_ctaid_z};
    static const N::ID threads[] = {N::nvvm_read_ptx_sreg_tid_x, N::nvvm_read_ptx_sreg_tid_y,
                                    N::nvvm_read_ptx_sreg_tid_z};
    int d = constant_argument(op, 0);
    internal_assert(d >= 0 && d < 3) << op->name << " of dimension " << d;
    const bool block = op->is_intrinsic(Intrinsic::gpu_block_index);
    return f.builder().CreateIntrinsic(block ? blocks[d] : threads[d], {}, {});
}

// It orders accesses to shared and to device memory of the block's threads, so the fence adds
// nothing, but for what warpgroups read: their way to shared memory is another one ("async proxy").
Value *emit_gpu_barrier(FunctionEmitter &f, const Call *op) {
    if (constant_argument(op, 0) & fence_warpgroups) {
        auto *type = llvm::FunctionType::get(f.builder().getVoidTy(), false);
        f.builder().CreateCall(
            type, llvm::InlineAsm::get(type, "fence.proxy.async.shared::cta;", "~{memory}", true),
            {});
    }
    f.builder().CreateIntrinsic(N::nvvm_barrier0, {}, {});
    return llvm::Constant::getNullValue(f.type(op->type));
}

Value *emit_warp_shuffle(FunctionEmitter &f, const Call *op) {
    int mode = op->args.size() > 2 ? constant_argument(op, 2) : 0;
    int width = op->args.size() > 3 ? constant_argument(op, 3) : 32;
    internal_assert(mode >= 0 && mode < 4) << "warp_shuffle of mode " << mode;
    Value *v = f.emit(op->args[0]);
    Value *lane = f.builder().CreateIntCast(f.emit(op->args[1]), f.builder().getInt32Ty(), true);
    return f.by_lanes({v}, op->type.lanes(), [&](const std::vector<Value *> &scalar) {
        return shuffle_scalar(f.builder(), scalar[0], {lane, mode, width});
    });
}

namespace {

/// Byte i in 32 bits.
Value *byte_of(FunctionEmitter &f, PackedBytes packed, uint64_t i) {
    llvm::IRBuilder<> &b = f.builder();
    Value *top = b.CreateShl(packed.bits, 24 - 8 * i);
    return packed.is_signed ? b.CreateAShr(top, 24) : b.CreateLShr(top, 24);
}

}  // namespace

Value *dot_product_of_bytes(FunctionEmitter &f, PackedBytes a, PackedBytes b, Value *c,
                            bool has_instruction) {
    llvm::IRBuilder<> &builder = f.builder();
    llvm::Type *i32 = builder.getInt32Ty();
    if (!has_instruction) {
        for (uint64_t i = 0; i < 4; i++) {
            c = builder.CreateAdd(c, builder.CreateMul(byte_of(f, a, i), byte_of(f, b, i)));
        }
        return c;
    }
    auto *type = llvm::FunctionType::get(i32, {i32, i32, i32}, false);
    const char *code =
        a.is_signed
            ? (b.is_signed ? "dp4a.s32.s32 $0, $1, $2, $3;" : "dp4a.s32.u32 $0, $1, $2, $3;")
            : (b.is_signed ? "dp4a.u32.s32 $0, $1, $2, $3;" : "dp4a.u32.u32 $0, $1, $2, $3;");
    auto *instruction = llvm::InlineAsm::get(type, code, "=r,r,r,r", false);
    llvm::CallInst *call = builder.CreateCall(type, instruction, {a.bits, b.bits, c});
    call->setDoesNotAccessMemory();
    return call;
}

namespace {

/// Bytes of either sign that hold the values of e, or undefined.
Expr as_bytes(const Expr &e) {
    int lanes = e.type().lanes();
    Expr bytes = lossless_cast(UInt(8, lanes), e);
    return bytes.defined() ? bytes : lossless_cast(Int(8, lanes), e);
}

/// The factors of a product.
bool match_product(const Expr &value, Expr *a, Expr *b) {
    if (const Mul *product = value.as<Mul>()) {
        *a = as_bytes(product->a);
        *b = as_bytes(product->b);
    } else if (const Call *call = Call::as_intrinsic(value, Intrinsic::widening_mul)) {
        *a = as_bytes(call->args[0]);
        *b = as_bytes(call->args[1]);
    } else if (const Cast *cast = value.as<Cast>();
               cast && cast->type.is_int_or_uint() && cast->type.bits() == 32 &&
               Call::as_intrinsic(cast->value, Intrinsic::widening_mul)) {
        return match_product(cast->value, a, b);
    }
    return a->defined() && b->defined();
}

}  // namespace

Value *match_dot_product(FunctionEmitter &f, const VectorReduce *op) {
    int groups = op->type.lanes(), factor = op->value.type().lanes() / groups;
    Type element = op->type.element_of();
    Expr x, y;
    if (op->op != VectorReduce::Add || factor % 4 != 0 || !element.is_int_or_uint() ||
        element.bits() != 32 || !match_product(op->value, &x, &y)) {
        return nullptr;
    }
    llvm::IRBuilder<> &b = f.builder();
    llvm::Type *words = with_lanes(b.getInt32Ty(), groups * factor / 4);
    Value *a = b.CreateBitCast(f.emit(x), words), *c = b.CreateBitCast(f.emit(y), words);
    Value *result = llvm::PoisonValue::get(f.type(op->type));
    for (int group = 0; group < groups; group++) {
        Value *sum = b.getInt32(0);
        for (int i = group * factor / 4; i < (group + 1) * factor / 4; i++) {
            sum = dot_product_of_bytes(f, {f.lane(a, i), x.type().is_int()},
                                       {f.lane(c, i), y.type().is_int()}, sum, true);
        }
        result = groups == 1 ? sum : b.CreateInsertElement(result, sum, uint64_t(group));
    }
    return result;
}

namespace {

/// The call if the value is a dot product that is used once.
llvm::CallInst *dot_product_used_once(Value *v) {
    auto *call = llvm::dyn_cast<llvm::CallInst>(v);
    auto *code = call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
    return code && code->getAsmString().compare(0, 4, "dp4a") == 0 && call->hasOneUse() ? call
                                                                                        : nullptr;
}

/// Moves the chain that ends in `last` before the sum and lets it start from `start`. False if it
/// does not start from zero.
bool start_from(llvm::CallInst *last, llvm::Instruction *sum, Value *start) {
    constexpr unsigned accumulator = 2;
    std::vector<llvm::CallInst *> chain = {last};
    while (llvm::CallInst *before =
               dot_product_used_once(chain.back()->getArgOperand(accumulator))) {
        chain.push_back(before);
    }
    auto *zero = llvm::dyn_cast<llvm::ConstantInt>(chain.back()->getArgOperand(accumulator));
    if (!zero || !zero->isZero()) {
        return false;
    }
    chain.back()->setArgOperand(accumulator, start);
    for (auto call = chain.rbegin(); call != chain.rend(); ++call) {
        (*call)->moveBefore(sum);
    }
    return true;
}

}  // namespace

void join_dot_products(llvm::Module &module) {
    std::vector<llvm::Instruction *> sums;
    for (llvm::Function &function : module) {
        for (llvm::Instruction &i : llvm::instructions(function)) {
            if (i.getOpcode() == llvm::Instruction::Add) {
                sums.push_back(&i);
            }
        }
    }
    for (llvm::Instruction *sum : sums) {
        for (unsigned side : {0u, 1u}) {
            llvm::CallInst *last = dot_product_used_once(sum->getOperand(side));
            if (last && start_from(last, sum, sum->getOperand(1 - side))) {
                sum->replaceAllUsesWith(last);
                sum->eraseFromParent();
                break;
            }
        }
    }
}

}  // namespace calotype::internal
