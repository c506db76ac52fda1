// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer and bit operations.
#include <llvm/IR/Intrinsics.h>

#include <cmath>

#include "codegen/llvm/intrinsics.h"
#include "ir/constants.h"
#include "support/error.h"

namespace calotype::internal {

using llvm::Value;

Value *emit_abs(FunctionEmitter &f, const Call *op) {
    Type t = op->args[0].type();
    Value *v = f.emit(op->args[0]);
    if (t.is_float()) {
        return f.call_llvm(llvm::Intrinsic::fabs, {v});
    }
    if (!t.is_int()) {
        return v;
    }
    // The result is unsigned, so that the smallest number has one too.
    return f.call_llvm(llvm::Intrinsic::abs, {v, f.builder().getFalse()});
}

Value *emit_absd(FunctionEmitter &f, const Call *op) {
    Type t = op->args[0].type();
    Value *a = f.emit(op->args[0]), *b = f.emit(op->args[1]);
    const bool is_short = t.is_vector() && t.bits() * t.lanes() < 128;
    if (f.target().arch == Target::X86 && is_short && t.is_uint() && t.bits() <= 16) {
        // LLVM fills vectors shorter than a register with zeros before it takes the extremes. Of whole registers
        // these take as many instructions and are, on some processors, faster.
        const auto more = [&](Value *x, Value *y) {
            return f.call_llvm(llvm::Intrinsic::usub_sat, {x, y});
        };
        return f.builder().CreateOr(more(a, b), more(b, a));
    }
    return f.builder().CreateSub(f.min_or_max(a, b, t, true), f.min_or_max(a, b, t, false));
}

namespace {

Value *as_bits(FunctionEmitter &f, const Expr &e) {
    Type t = e.type();
    Value *v = f.emit(e);
    return t.is_float() ? f.builder().CreateBitCast(v, f.type(t.with_code(Type::UInt))) : v;
}

}  // namespace

Value *emit_bitwise(FunctionEmitter &f, const Call *op) {
    Value *a = as_bits(f, op->args[0]), *b = as_bits(f, op->args[1]);
    auto opcode = op->is_intrinsic(Intrinsic::bitwise_and)  ? llvm::Instruction::And
                  : op->is_intrinsic(Intrinsic::bitwise_or) ? llvm::Instruction::Or
                                                            : llvm::Instruction::Xor;
    return f.builder().CreateBitCast(f.builder().CreateBinOp(opcode, a, b), f.type(op->type));
}

Value *emit_bitwise_not(FunctionEmitter &f, const Call *op) {
    Value *v = f.builder().CreateNot(as_bits(f, op->args[0]));
    return f.builder().CreateBitCast(v, f.type(op->type));
}

// A negative distance shifts the other way.
Value *emit_shift(FunctionEmitter &f, const Call *op) {
    llvm::IRBuilder<> &b = f.builder();
    Type t = op->type, distance_type = op->args[1].type();
    Value *a = f.emit(op->args[0]);
    Value *distance =
        f.convert(f.emit(op->args[1]), distance_type, t.with_code(distance_type.code()));
    bool left = op->is_intrinsic(Intrinsic::shift_left);
    auto shift = [&](bool to_left, Value *by) {
        return to_left      ? b.CreateShl(a, by)
               : t.is_int() ? b.CreateAShr(a, by)
                            : b.CreateLShr(a, by);
    };
    if (distance_type.is_uint()) {
        return shift(left, distance);
    }
    if (auto constant = as_const_int(op->args[1])) {
        Value *by = f.int_constant(a->getType(), *constant < 0 ? -*constant : *constant);
        return shift(left == (*constant >= 0), by);
    }
    Value *zero = llvm::Constant::getNullValue(distance->getType());
    Value *backward = b.CreateICmpSLT(distance, zero);
    // Distances out of range are undefined in LLVM, also of the shift that is not chosen.
    Value *mask = f.int_constant(a->getType(), t.bits() - 1);
    Value *by = b.CreateAnd(f.call_llvm(llvm::Intrinsic::abs, {distance, b.getFalse()}), mask);
    return b.CreateSelect(backward, shift(!left, by), shift(left, by));
}

Value *emit_bit_count(FunctionEmitter &f, const Call *op) {
    Value *v = as_bits(f, op->args[0]);
    llvm::IRBuilder<> &b = f.builder();
    switch (op->intrinsic) {
    case Intrinsic::popcount:
        v = f.call_llvm(llvm::Intrinsic::ctpop, {v});
        break;
    case Intrinsic::count_leading_zeros:
        v = f.call_llvm(llvm::Intrinsic::ctlz, {v, b.getFalse()});
        break;
    default:
        v = f.call_llvm(llvm::Intrinsic::cttz, {v, b.getFalse()});
        break;
    }
    return b.CreateIntCast(v, f.type(op->type), false);
}

// As in C, but by zero it gives zero, and nothing traps.
Value *emit_c_division(FunctionEmitter &f, const Call *op) {
    llvm::IRBuilder<> &b = f.builder();
    Type t = op->type;
    Value *x = f.emit(op->args[0]), *y = f.emit(op->args[1]);
    bool quotient = op->is_intrinsic(Intrinsic::div_round_to_zero);
    if (t.is_uint()) {
        return quotient ? f.divide(x, y, t) : f.modulo(x, y, t);
    }
    // |x| / |y| with the sign put back.
    Type u = t.with_code(Type::UInt);
    Value *ax = f.call_llvm(llvm::Intrinsic::abs, {x, b.getFalse()});
    Value *ay = f.call_llvm(llvm::Intrinsic::abs, {y, b.getFalse()});
    Value *result = quotient ? f.divide(ax, ay, u) : f.modulo(ax, ay, u);
    Value *sign = b.CreateAShr(quotient ? b.CreateXor(x, y) : x, uint64_t(t.bits() - 1));
    return b.CreateSub(b.CreateXor(result, sign), sign);
}

// The nearest integer of the result's type to a float. A NaN becomes the largest where the type has
// fewer bits than the float, else the smallest: `min` and `max` give their second operand then.
//     fewer bits: cast(max(min(v, largest), smallest))
//     else:       e = max(v, smallest), e >= 2^digits ? largest : cast(e)
Value *emit_saturating_cast(FunctionEmitter &f, const Call *op) {
    Type from = op->args[0].type(), to = op->type;
    Value *v = f.emit(op->args[0]);
    if (to.is_float()) {
        return f.convert(v, from, to);
    }
    const bool is_signed = to.is_int(), is_narrow = to.bits() < from.bits();
    const int digits = to.bits() - is_signed;
    const auto limit = [&](double x) {
        return f.emit(make_const(from, x));
    };
    return f.with_strict_float([&] {
        if (is_narrow) {
            v = f.min_or_max(v, limit(std::ldexp(1.0, digits) - 1), from, false);
        }
        v = f.min_or_max(v, limit(is_signed ? -std::ldexp(1.0, digits) : 0), from, true);
        Value *inside = f.convert(v, from, to);
        if (is_narrow) {
            return inside;
        }
        Value *is_high = f.builder().CreateFCmpOGE(v, limit(std::ldexp(1.0, digits)));
        Value *largest = f.emit(is_signed ? make_const(to, to.imax()) : make_const(to, to.umax()));
        return f.builder().CreateSelect(is_high, largest, inside);
    });
}

}  // namespace calotype::internal
