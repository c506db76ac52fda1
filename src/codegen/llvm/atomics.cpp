// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Atomic updates. Each store to the producer inside of Atomic is one read-modify-write:
//
//     f[i] = f[i] + x     an atomic addition, also minimum or maximum
//     f[i] = e(f[i])      compare and swap until nobody came between
//
// Vectors go lane by lane, as two lanes may mean the same element.
#include <utility>

#include <llvm/Analysis/ValueTracking.h>

#include "arith/atomic_update.h"
#include "codegen/llvm/emitter.h"
#include "ir/constants.h"
#include "support/error.h"

namespace calotype::internal {

using llvm::Value;

namespace {

/// An update that is one instruction: f[i] = operation(f[i], operand).
struct SimpleUpdate {
    llvm::AtomicRMWInst::BinOp operation = llvm::AtomicRMWInst::BAD_BINOP;
    Expr operand;  ///< undefined: it is none
};

using Operation = llvm::AtomicRMWInst::BinOp;

Operation of_kind(const Type &t, Operation floats, Operation integers, Operation unsigneds) {
    return t.is_float() ? floats : t.is_int() ? integers : unsigneds;
}

/// Minima of floats, if the operation gives what the machine's does where one of them is NaN.
SimpleUpdate simple_update(const Store *op, const Machine &machine) {
    Type t = op->value.type();
    const bool has_minimum = !t.is_float() || machine.has_minimum_of_numbers();
    SimpleUpdate update;
    if (is_small_float(t) || t.is_bool()) {
        return update;
    }
    if (const Add *sum = op->value.as<Add>()) {
        update.operation = of_kind(t, Operation::FAdd, Operation::Add, Operation::Add);
        update.operand = other_operand(op, sum->a, sum->b);
    } else if (const Min *least = op->value.as<Min>(); least && has_minimum) {
        update.operation = of_kind(t, Operation::FMin, Operation::Min, Operation::UMin);
        update.operand = other_operand(op, least->a, least->b);
    } else if (const Max *most = op->value.as<Max>(); most && has_minimum) {
        update.operation = of_kind(t, Operation::FMax, Operation::Max, Operation::UMax);
        update.operand = other_operand(op, most->a, most->b);
    }
    return update;
}

}  // namespace

void FunctionEmitter::emit_node(const Atomic *op) {
    internal_assert(op->mutex_name.empty()) << "an atomic update with a mutex is not lowered";
    const bool before = std::exchange(is_atomic_, true);
    emit(op->body);
    is_atomic_ = before;
}

// False where a plain store will do: the value does not depend on what is stored there, or it is
// memory of this thread alone, which the instructions of a GPU do not take.
bool FunctionEmitter::emit_atomic_store(const Store *op) {
    const Value *memory = llvm::getUnderlyingObject(host_pointer(op->name));
    const Expr replaced = llvm::isa<llvm::AllocaInst>(memory) ? Expr() : replaced_value(op);
    if (!replaced.defined()) {
        return false;
    }
    Type t = op->value.type().element_of();
    llvm::Type *lt = llvm_memory_type(module_.context(), t);
    llvm::Align align(uint64_t(t.bytes()));
    auto order = llvm::AtomicOrdering::Monotonic;
    Value *index = emit(op->index);
    SimpleUpdate update = simple_update(op, machine_);
    Value *operand = update.operand.defined() ? emit(update.operand) : nullptr;
    Value *mask = is_trivially_true(op->predicate) ? nullptr : emit(op->predicate);
    llvm::BasicBlock *next = nullptr;  // after the lane before
    for (int i = 0; i < op->value.type().lanes(); i++) {
        if (next) {
            b_.CreateBr(next);
            b_.SetInsertPoint(next);
        }
        if (mask) {
            llvm::BasicBlock *here = new_block("lane");
            next = new_block("next_lane");
            b_.CreateCondBr(lanes_of(mask->getType()) == 1 ? mask : lane(mask, i), here, next);
            b_.SetInsertPoint(here);
        }
        Value *p = element_pointer(op->name, t, lane(index, i));
        if (operand) {
            b_.CreateAtomicRMW(update.operation, p, lane(operand, i), align, order);
            continue;
        }
        llvm::Type *bits_type = b_.getIntNTy(unsigned(t.bytes() * 8));
        llvm::LoadInst *first = b_.CreateAlignedLoad(bits_type, p, align);
        first->setAtomic(order);
        llvm::BasicBlock *before = b_.GetInsertBlock();
        llvm::BasicBlock *loop = new_block("retry"), *after = new_block("updated");
        b_.CreateBr(loop);
        b_.SetInsertPoint(loop);
        llvm::PHINode *bits = b_.CreatePHI(bits_type, 2);
        bits->addIncoming(first, before);
        ScopedBinding<Value *> binding(symbols_, old_value,
                                       from_memory(b_.CreateBitCast(bits, lt), t));
        Value *fresh = emit(updated_lane(op, replaced, i));
        fresh = b_.CreateBitCast(to_memory(fresh, t), bits_type);
        Value *swapped = b_.CreateAtomicCmpXchg(p, bits, fresh, align, order, order);
        bits->addIncoming(b_.CreateExtractValue(swapped, 0), b_.GetInsertBlock());
        b_.CreateCondBr(b_.CreateExtractValue(swapped, 1), after, loop);
        b_.SetInsertPoint(after);
    }
    if (next) {
        b_.CreateBr(next);
        b_.SetInsertPoint(next);
    }
    return true;
}

}  // namespace calotype::internal
