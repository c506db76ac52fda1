// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fixed-point operations: computed in integers of twice the bits in forms that LLVM selects the
// target's own instructions for (averages, high multiplications, saturating packs).
#include <llvm/IR/Intrinsics.h>

#include "codegen/llvm/intrinsics.h"
#include "ir/constants.h"
#include "support/error.h"

namespace calotype::internal {

using llvm::Value;

namespace {

llvm::Type *doubled(llvm::Type *t) {
    auto bits = t->getScalarSizeInBits();
    return with_lanes(llvm::IntegerType::get(t->getContext(), bits * 2), lanes_of(t));
}

Value *widened(FunctionEmitter &f, Value *v, Type t) {
    return f.builder().CreateIntCast(v, doubled(v->getType()), t.is_int());
}

Value *shift_right(FunctionEmitter &f, Value *v, Value *by, bool is_signed) {
    return is_signed ? f.builder().CreateAShr(v, by) : f.builder().CreateLShr(v, by);
}

/// From twice the bits to the type, to the nearest value there is.
Value *saturating_narrow(FunctionEmitter &f, Value *v, Type to) {
    llvm::IRBuilder<> &b = f.builder();
    unsigned bits = unsigned(to.bits());
    unsigned wide_bits = v->getType()->getScalarSizeInBits();
    llvm::Type *lt = v->getType();
    if (to.is_int()) {
        llvm::APInt low = llvm::APInt::getSignedMinValue(bits).sext(wide_bits);
        llvm::APInt high = llvm::APInt::getSignedMaxValue(bits).sext(wide_bits);
        v = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, v, llvm::ConstantInt::get(lt, low));
        v = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, v, llvm::ConstantInt::get(lt, high));
    } else {
        llvm::APInt high = llvm::APInt::getMaxValue(bits).zext(wide_bits);
        v = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, v, llvm::ConstantInt::get(lt, high));
    }
    return b.CreateTrunc(v, f.type(to));
}

}  // namespace

Value *emit_saturating(FunctionEmitter &f, const Call *op) {
    Type t = op->type;
    Value *x = f.emit(op->args[0]), *y = f.emit(op->args[1]);
    bool is_add = op->is_intrinsic(Intrinsic::saturating_add);
    auto id = is_add ? (t.is_int() ? llvm::Intrinsic::sadd_sat : llvm::Intrinsic::uadd_sat)
                     : (t.is_int() ? llvm::Intrinsic::ssub_sat : llvm::Intrinsic::usub_sat);
    return f.builder().CreateBinaryIntrinsic(id, x, y);
}

// 64 bits have no wider type: there the carries are kept apart.
//     x + y == 2 * (x & y) + (x ^ y) == 2 * (x | y) - (x ^ y)
// So they are in vectors, too, where no instruction rounds down: LLVM's own form of that has
// wider lanes once a choice is made between two of them.
Value *emit_halving(FunctionEmitter &f, const Call *op) {
    llvm::IRBuilder<> &b = f.builder();
    Type t = op->type;
    Value *x = f.emit(op->args[0]), *y = f.emit(op->args[1]);
    bool is_sub = op->is_intrinsic(Intrinsic::halving_sub);
    bool rounds = op->is_intrinsic(Intrinsic::rounding_halving_add);
    llvm::Type *lt = x->getType();
    const bool is_plain_sum = !is_sub && !rounds;
    if (t.bits() < 64 && !(is_plain_sum && t.is_vector())) {
        Value *wx = widened(f, x, t), *wy = widened(f, y, t);
        Value *sum = is_sub ? b.CreateSub(wx, wy) : b.CreateAdd(wx, wy);
        sum = rounds ? b.CreateAdd(sum, f.int_constant(sum->getType(), 1)) : sum;
        return b.CreateTrunc(b.CreateLShr(sum, 1), lt);
    }
    Value *half = shift_right(f, b.CreateXor(x, y), f.int_constant(lt, 1), t.is_int());
    if (is_sub) {
        // x - y == (x ^ y) - 2 * (~x & y)
        return b.CreateSub(half, b.CreateAnd(b.CreateNot(x), y));
    }
    return rounds ? b.CreateSub(b.CreateOr(x, y), half) : b.CreateAdd(b.CreateAnd(x, y), half);
}

// x * y / 2^q, down or rounded, saturated. From q == bits on it cannot be too large.
Value *emit_mul_shift(FunctionEmitter &f, const Call *op) {
    llvm::IRBuilder<> &b = f.builder();
    Type t = op->type;
    Value *x = f.emit(op->args[0]), *y = f.emit(op->args[1]), *q = f.emit(op->args[2]);
    bool is_signed = op->args[0].type().is_int() || op->args[1].type().is_int();
    Value *product =
        b.CreateMul(widened(f, x, op->args[0].type()), widened(f, y, op->args[1].type()));
    llvm::Type *wide = product->getType();
    q = b.CreateIntCast(q, wide, false);
    const bool rounds = op->is_intrinsic(Intrinsic::rounding_mul_shift_right);
    auto constant = as_const_int(op->args[2]);
    if (!constant && as_const_uint(op->args[2])) {
        constant = int64_t(*as_const_uint(op->args[2]));
    }
    Value *one = f.int_constant(wide, 1);
    const bool room = constant && *constant <= t.bits();
    if (rounds && room) {
        // Half of 2^q; none for q == 0.
        product = b.CreateAdd(product, b.CreateLShr(b.CreateShl(one, q), one));
    }
    Value *shifted = shift_right(f, product, q, is_signed);
    if (rounds && !room) {
        // Half of 2^q might overflow: the highest bit that is lost says which way to round.
        Value *last = b.CreateAnd(b.CreateLShr(b.CreateShl(product, one), q), one);
        shifted = b.CreateAdd(shifted, last);
    }
    return constant && *constant >= t.bits() ? b.CreateTrunc(shifted, f.type(t))
                                             : saturating_narrow(f, shifted, t);
}

}  // namespace calotype::internal
