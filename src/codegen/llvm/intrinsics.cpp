// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The emission table of intrinsics, and those of its rows that choose, hint or promise.
#include "codegen/llvm/intrinsics.h"

#include <array>

#include "support/error.h"

namespace calotype::internal {

using llvm::Value;

namespace {

/// By the type of the first operand; null where legalize/ has to expand the call.
struct Emissions {
    using Function = Value *(*)(FunctionEmitter &, const Call *);
    Function of_floats = nullptr, of_others = nullptr;
};
using EmissionTable = std::array<Emissions, size_t(Intrinsic::none)>;

EmissionTable make_table() {
    EmissionTable table{};
#define EMIT(name, function) table[size_t(Intrinsic::name)] = {function, function};
#define EMIT_INTEGER(name, function) table[size_t(Intrinsic::name)].of_others = function;
#define EMIT_FLOAT(name, function) table[size_t(Intrinsic::name)].of_floats = function;
#include "codegen/llvm/intrinsics.def"
    return table;
}

Emissions::Function emission_of(const Call *op) {
    static const EmissionTable table = make_table();
    const Emissions &row = table[size_t(op->intrinsic)];
    return !op->args.empty() && op->args[0].type().is_float() ? row.of_floats : row.of_others;
}

}  // namespace

bool has_emission(const Call *op) {
    return emission_of(op) != nullptr;
}

Value *FunctionEmitter::emit_intrinsic(const Call *op) {
    if (Value *v = machine_.call(*this, op)) {
        return v;
    }
    const Emissions::Function emission = emission_of(op);
    internal_assert(emission) << "no code for intrinsic " << op->name << " on this machine";
    return emission(*this, op);
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

}  // namespace calotype::internal
