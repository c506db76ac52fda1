// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floating-point operations other than the transcendental functions, and the strict ones.
#include <llvm/IR/Intrinsics.h>

#include "codegen/llvm/intrinsics.h"
#include "ir/constants.h"
#include "support/error.h"

namespace calotype::internal {

using llvm::Value;

Value *emit_float_unary(FunctionEmitter &f, const Call *op) {
    Value *v = f.emit(op->args[0]);
    switch (op->intrinsic) {
    case Intrinsic::sqrt:
        return f.call_llvm(llvm::Intrinsic::sqrt, {v});
    case Intrinsic::floor:
        return f.call_llvm(llvm::Intrinsic::floor, {v});
    case Intrinsic::ceil:
        return f.call_llvm(llvm::Intrinsic::ceil, {v});
    case Intrinsic::trunc:
        return f.call_llvm(llvm::Intrinsic::trunc, {v});
    default:
        return f.call_llvm(llvm::Intrinsic::roundeven, {v});
    }
}

Value *emit_transcendental(FunctionEmitter &f, const Call *op) {
    std::vector<Value *> args;
    for (const Expr &a : op->args) {
        args.push_back(f.emit(a));
    }
    return f.emit_math(op->intrinsic, args, op->type);
}

Value *emit_fma(FunctionEmitter &f, const Call *op) {
    Value *x = f.emit(op->args[0]), *y = f.emit(op->args[1]), *z = f.emit(op->args[2]);
    return f.with_strict_float([&] { return f.call_llvm(llvm::Intrinsic::fma, {x, y, z}); });
}

Value *emit_fast_inverse(FunctionEmitter &f, const Call *op) {
    llvm::IRBuilder<> &b = f.builder();
    bool square_root = op->is_intrinsic(Intrinsic::fast_inverse_sqrt);
    Value *v = f.emit(op->args[0]);
    if (square_root) {
        v = f.call_llvm(llvm::Intrinsic::sqrt, {v});
    }
    return b.CreateFDiv(llvm::ConstantFP::get(v->getType(), 1.0), v);
}

Value *emit_strict(FunctionEmitter &f, const Call *op) {
    llvm::IRBuilder<> &b = f.builder();
    Type t = op->type;
    Value *x = f.emit(op->args[0]), *y = f.emit(op->args[1]);
    return f.with_strict_float([&]() -> Value * {
        switch (op->intrinsic) {
        case Intrinsic::strict_add:
            return t.is_float() ? b.CreateFAdd(x, y) : b.CreateAdd(x, y);
        case Intrinsic::strict_sub:
            return t.is_float() ? b.CreateFSub(x, y) : b.CreateSub(x, y);
        case Intrinsic::strict_mul:
            return t.is_float() ? b.CreateFMul(x, y) : b.CreateMul(x, y);
        case Intrinsic::strict_div:
            return f.divide(x, y, t);
        default:
            return f.min_or_max(x, y, t, op->is_intrinsic(Intrinsic::strict_max));
        }
    });
}

Value *emit_strict_comparison(FunctionEmitter &f, const Call *op) {
    Expr a = op->args[0], b = op->args[1];
    Expr comparison = op->is_intrinsic(Intrinsic::strict_eq)   ? EQ::make(a, b)
                      : op->is_intrinsic(Intrinsic::strict_lt) ? LT::make(a, b)
                                                               : LE::make(a, b);
    return f.with_strict_float([&] { return f.emit(comparison); });
}

Value *emit_strict_cast(FunctionEmitter &f, const Call *op) {
    Value *v = f.emit(op->args[0]);
    return f.with_strict_float([&] { return f.convert(v, op->args[0].type(), op->type); });
}

Value *emit_strict_float(FunctionEmitter &f, const Call *op) {
    return f.with_strict_float([&] { return f.emit(op->args[0]); });
}

}  // namespace calotype::internal
