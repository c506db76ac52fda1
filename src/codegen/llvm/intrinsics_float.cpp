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

// By bits, so that no assumption about NaN or infinity can remove the question.
Value *emit_float_class(FunctionEmitter &f, const Call *op) {
    llvm::IRBuilder<> &b = f.builder();
    Type t = op->args[0].type();
    llvm::Type *bits_type = f.type(t.with_code(Type::UInt));
    uint64_t infinity = t.bits() == 64 ? 0x7ff0000000000000 : 0x7f800000;
    uint64_t magnitude_mask = t.bits() == 64 ? 0x7fffffffffffffff : 0x7fffffff;
    Value *bits = b.CreateBitCast(f.emit(op->args[0]), bits_type);
    Value *magnitude = b.CreateAnd(bits, llvm::ConstantInt::get(bits_type, magnitude_mask));
    Value *limit = llvm::ConstantInt::get(bits_type, infinity);
    switch (op->intrinsic) {
    case Intrinsic::is_nan:
        return b.CreateICmpUGT(magnitude, limit);
    case Intrinsic::is_inf:
        return b.CreateICmpEQ(magnitude, limit);
    default:
        return b.CreateICmpULT(magnitude, limit);
    }
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

namespace {

/// The weight as an integer of 0 ... 2^bits - 1, where that stands for 0 ... 1.
Expr integer_weight(const Expr &weight, int bits) {
    Type t = UInt(bits, weight.type().lanes());
    if (!weight.type().is_float()) {
        return weight;
    }
    Type real = Float(bits > 16 ? 64 : 32, t.lanes());
    Expr scaled = Mul::make(Cast::make(real, weight), make_const(real, double(t.umax())));
    return Cast::make(t, Add::make(scaled, make_const(real, 0.5)));
}

}  // namespace

// lerp(zero, one, weight) = zero * (1 - weight) + one * weight, rounded to nearest for integers,
// where an unsigned weight's largest value stands for 1.
Value *emit_lerp(FunctionEmitter &f, const Call *op) {
    Expr zero = op->args[0], one = op->args[1], weight = op->args[2];
    Type t = op->type;
    if (t.is_float()) {
        if (!weight.type().is_float()) {
            Type unit = weight.type();
            Expr top = make_const(t, double(unit.umax()));
            weight = Div::make(Cast::make(t, weight), top);
        }
        Expr rest = Sub::make(make_one(t), weight);
        return f.emit(Add::make(Mul::make(zero, rest), Mul::make(one, weight)));
    }
    weight = integer_weight(weight, t.bits());
    Type unsigned_type = t.with_code(Type::UInt);
    if (t.is_int()) {
        // Moved up by 2^(bits - 1) both ends are unsigned.
        Expr bias = make_const(unsigned_type, uint64_t(1) << (t.bits() - 1));
        Expr moved = Call::make(unsigned_type, Intrinsic::lerp,
                                {Add::make(Cast::make(unsigned_type, zero), bias),
                                 Add::make(Cast::make(unsigned_type, one), bias), weight});
        return f.emit(Cast::make(t, Sub::make(moved, bias)));
    }
    Type wide = unsigned_type.with_bits(t.bits() + weight.type().bits() > 32   ? 64
                                        : t.bits() + weight.type().bits() > 16 ? 32
                                                                               : 16);
    Expr top = make_const(wide, weight.type().umax());
    Expr w = Cast::make(wide, weight);
    Expr sum = Add::make(Mul::make(Cast::make(wide, zero), Sub::make(top, w)),
                         Mul::make(Cast::make(wide, one), w));
    sum = Add::make(sum, make_const(wide, weight.type().umax() / 2));
    return f.emit(Cast::make(t, Div::make(sum, top)));
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
