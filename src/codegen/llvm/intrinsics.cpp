// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The emission table of intrinsics, and those of its rows that choose, hint or promise.
#include "codegen/llvm/intrinsics.h"

#include <array>

#include "support/error.h"

namespace calotype::internal {

using llvm::Value;

namespace {

using Emission = Value *(*)(FunctionEmitter &, const Call *);
using EmissionTable = std::array<Emission, size_t(Intrinsic::none)>;

EmissionTable make_table() {
    EmissionTable table{};
#define EMIT(name, function) table[size_t(Intrinsic::name)] = function;
#include "codegen/llvm/intrinsics.def"
    return table;
}

}  // namespace

Value *FunctionEmitter::emit_intrinsic(const Call *op) {
    static const EmissionTable table = make_table();
    const Emission emission = table[size_t(op->intrinsic)];
    if (Value *v = machine_.call(*this, op)) {
        return v;
    }
    internal_assert(emission) << "no code for intrinsic " << op->name << " on this machine";
    return emission(*this, op);
}

Value *emit_first(FunctionEmitter &f, const Call *op) {
    return f.emit(op->args[0]);
}

Value *emit_return_second(FunctionEmitter &f, const Call *op) {
    f.emit(op->args[0]);
    return f.emit(op->args[1]);
}

Value *emit_undef(FunctionEmitter &f, const Call *op) {
    return llvm::UndefValue::get(f.type(op->type));
}

Value *emit_nothing(FunctionEmitter &f, const Call *op) {
    return llvm::Constant::getNullValue(f.type(op->type));
}

Value *emit_unreachable(FunctionEmitter &f, const Call *op) {
    llvm::IRBuilder<> &b = f.builder();
    llvm::Function *function = b.GetInsertBlock()->getParent();
    b.CreateUnreachable();
    b.SetInsertPoint(llvm::BasicBlock::Create(b.getContext(), "after_unreachable", function));
    return llvm::PoisonValue::get(f.type(op->type));
}

// require(condition, value, message): the message reports the error and yields its code.
Value *emit_require(FunctionEmitter &f, const Call *op) {
    if (!f.target().has_feature(Target::NoAsserts)) {
        Value *condition = f.emit(op->args[0]);
        if (condition->getType()->isVectorTy()) {
            condition = f.builder().CreateAndReduce(condition);
        }
        f.check(condition, [&] { return f.emit(op->args[2]); });
    }
    return f.emit(op->args[1]);
}

// if_then_else(condition, a, b): only the one chosen is evaluated, unless lanes choose differently.
Value *emit_if_then_else(FunctionEmitter &f, const Call *op) {
    llvm::IRBuilder<> &b = f.builder();
    Value *condition = f.emit(op->args[0]);
    if (condition->getType()->isVectorTy()) {
        Value *yes = f.emit(op->args[1]);
        Value *no =
            op->args.size() > 2 ? f.emit(op->args[2]) : llvm::UndefValue::get(yes->getType());
        return b.CreateSelect(condition, yes, no);
    }
    llvm::Function *function = b.GetInsertBlock()->getParent();
    auto *then = llvm::BasicBlock::Create(b.getContext(), "then", function);
    auto *otherwise = llvm::BasicBlock::Create(b.getContext(), "else", function);
    auto *after = llvm::BasicBlock::Create(b.getContext(), "chosen", function);
    b.CreateCondBr(condition, then, otherwise);
    b.SetInsertPoint(then);
    Value *yes = f.emit(op->args[1]);
    llvm::BasicBlock *then_end = b.GetInsertBlock();
    b.CreateBr(after);
    b.SetInsertPoint(otherwise);
    Value *no = op->args.size() > 2 ? f.emit(op->args[2]) : llvm::UndefValue::get(yes->getType());
    llvm::BasicBlock *else_end = b.GetInsertBlock();
    b.CreateBr(after);
    b.SetInsertPoint(after);
    if (yes->getType()->isVoidTy()) {
        return yes;
    }
    llvm::PHINode *result = b.CreatePHI(yes->getType(), 2);
    result->addIncoming(yes, then_end);
    result->addIncoming(no, else_end);
    return result;
}

// mux(i, v0, v1, ...): v_i, the last where there is no v_i.
Value *emit_mux(FunctionEmitter &f, const Call *op) {
    Value *index = f.emit(op->args[0]);
    Value *result = f.emit(op->args.back());
    for (size_t i = op->args.size() - 2; i >= 1; i--) {
        Value *hit =
            f.builder().CreateICmpEQ(index, f.int_constant(index->getType(), int64_t(i - 1)));
        result = f.builder().CreateSelect(hit, f.emit(op->args[i]), result);
    }
    return result;
}

}  // namespace calotype::internal
