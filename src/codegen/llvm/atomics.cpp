// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Atomic updates. Without a mutex each store to the producer inside of Atomic is one
// read-modify-write:
//
//     f[i] = f[i] + x     an atomic addition, also minimum or maximum of integers
//     f[i] = e(f[i])      compare and swap until nobody came between
//
// With a mutex the one for the element is held meanwhile. Vectors go lane by lane, as two lanes may
// mean the same element.
#include "codegen/llvm/emitter.h"
#include "ir/equality.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "support/error.h"

namespace calotype::internal {

using llvm::Value;

namespace {

/// The first store to a buffer in a statement.
class FindStore : public Visitor {
public:
    explicit FindStore(const std::string &buffer) : buffer_(buffer) {
    }
    const Store *found = nullptr;

protected:
    using Visitor::visit;
    void visit(const Store *op) override {
        bool matches =
            op->name == buffer_ || op->name.compare(0, buffer_.size() + 1, buffer_ + ".") == 0;
        if (!found && matches) {
            found = op;
        }
    }

private:
    const std::string &buffer_;
};

/// An update that is one instruction: f[i] = operation(f[i], operand).
struct SimpleUpdate {
    llvm::AtomicRMWInst::BinOp operation = llvm::AtomicRMWInst::BAD_BINOP;
    Expr operand;  ///< undefined: it is none
};

/// The operand beside the old value of the element that is stored to, or undefined.
template<typename Op>
Expr other_operand(const Store *op, const Op *operation) {
    auto is_old = [&](const Expr &e) {
        const Load *load = e.as<Load>();
        return load && load->name == op->name && equal(load->index, op->index);
    };
    Expr rest = is_old(operation->a) ? operation->b : is_old(operation->b) ? operation->a : Expr();
    return rest.defined() && !uses_buffer(rest, op->name) ? rest : Expr();
}

SimpleUpdate simple_update(const Store *op) {
    using Operation = llvm::AtomicRMWInst;
    Type t = op->value.type();
    SimpleUpdate update;
    if (is_small_float(t) || t.is_bool()) {
        return update;
    }
    if (const Add *sum = op->value.as<Add>()) {
        update.operation = t.is_float() ? Operation::FAdd : Operation::Add;
        update.operand = other_operand(op, sum);
    } else if (const Min *least = op->value.as<Min>(); least && !t.is_float()) {
        update.operation = t.is_int() ? Operation::Min : Operation::UMin;
        update.operand = other_operand(op, least);
    } else if (const Max *most = op->value.as<Max>(); most && !t.is_float()) {
        update.operation = t.is_int() ? Operation::Max : Operation::UMax;
        update.operand = other_operand(op, most);
    }
    return update;
}

/// One lane of a vector; a scalar as it is.
Expr lane_of(const Expr &e, int lane) {
    return e.type().is_scalar() ? e : Shuffle::make_extract_element(e, lane);
}

/// The load of the old value in an update, whose value is then given by name.
class OldValues : public Visitor {
public:
    explicit OldValues(const Store *store) : store_(store) {
    }
    Expr load;

protected:
    using Visitor::visit;
    void visit(const Load *op) override {
        if (op->name == store_->name && equal(op->index, store_->index)) {
            load = op;
        }
        Visitor::visit(op);
    }

private:
    const Store *store_;
};

}  // namespace

void FunctionEmitter::emit_node(const Atomic *op) {
    if (op->mutex_name.empty()) {
        std::string before = std::exchange(atomic_producer_, op->producer_name);
        emit(op->body);
        atomic_producer_ = before;
        return;
    }
    FindStore find(op->producer_name);
    find(op->body);
    internal_assert(find.found) << "an atomic statement that stores nothing to "
                                << op->producer_name;
    Value *index = b_.CreateSExtOrTrunc(lane(emit(find.found->index), 0), b_.getInt32Ty());
    Value *mutexes = host_pointer(op->mutex_name);
    return_if_nonzero(call_runtime("calotype_mutex_array_lock", b_.getInt32Ty(), {mutexes, index}));
    emit(op->body);
    return_if_nonzero(
        call_runtime("calotype_mutex_array_unlock", b_.getInt32Ty(), {mutexes, index}));
}

// False if the value does not depend on what is stored there: then a plain store will do.
bool FunctionEmitter::emit_atomic_store(const Store *op) {
    OldValues old(op);
    old(op->value);
    if (!old.load.defined()) {
        return false;
    }
    Type t = op->value.type().element_of();
    llvm::Type *lt = llvm_memory_type(module_.context(), t);
    llvm::Align align(uint64_t(t.bytes()));
    auto order = llvm::AtomicOrdering::Monotonic;
    Value *index = emit(op->index);
    SimpleUpdate update = simple_update(op);
    Value *operand = update.operand.defined() ? emit(update.operand) : nullptr;
    for (int i = 0; i < op->value.type().lanes(); i++) {
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
        ScopedBinding<Value *> binding(symbols_, ".old",
                                       from_memory(b_.CreateBitCast(bits, lt), t));
        Expr scalar = Variable::make(t, ".old");
        int lanes = op->value.type().lanes();
        Expr known = lanes == 1 ? scalar : Broadcast::make(scalar, lanes);
        Value *fresh = emit(lane_of(substitute(old.load, known, op->value), i));
        fresh = b_.CreateBitCast(to_memory(fresh, t), bits_type);
        Value *swapped = b_.CreateAtomicCmpXchg(p, bits, fresh, align, order, order);
        bits->addIncoming(b_.CreateExtractValue(swapped, 0), b_.GetInsertBlock());
        b_.CreateCondBr(b_.CreateExtractValue(swapped, 1), after, loop);
        b_.SetInsertPoint(after);
    }
    return true;
}

}  // namespace calotype::internal
