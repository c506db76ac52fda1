// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions by value and by bits.
//
// 16-bit floats are i16. Up to float32 every value is exact; down from it rounds to nearest even,
// with F16C's instructions or, on older machines and for bfloat16, in integer arithmetic. From
// float64 the way leads over float32 rounded to odd, so that the two roundings together give what
// one would.
#include <algorithm>
#include <optional>
#include <vector>

#include "arith/bounds.h"
#include "arith/constant_interval.h"
#include "arith/fixed_point.h"
#include "arith/simplify.h"
#include "codegen/llvm/emitter.h"
#include "codegen/llvm/machine.h"
#include "codegen/llvm/math/bfloat16_nans.h"
#include "ir/constants.h"
#include "ir/language/match_types.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "support/error.h"
#include "target/registers.h"

namespace calotype::internal {

using llvm::Value;

namespace {

// Every second (fourth) lane of a vector of integers stands in a number of twice (four times) the
// bits, with others above or below it: no lane has to move.
Value *emit_widened_slice(FunctionEmitter &f, const Cast *op) {
    llvm::IRBuilder<> &b = f.builder();
    const Shuffle *slice = op->value.as<Shuffle>();
    const Type from = op->value.type(), to = op->type;
    if (!slice || !slice->is_slice() || !from.is_int_or_uint() || from.is_bool() ||
        !(to.is_int_or_uint() || to == Float(32, to.lanes()))) {
        return nullptr;
    }
    const int stride = slice->slice_stride(), begin = slice->slice_begin();
    const int bits = from.bits() * stride;
    const bool is_whole = slice->vectors[0].type().lanes() == stride * to.lanes();
    if ((stride != 2 && stride != 4) || !is_whole || begin >= stride || bits > to.bits() ||
        bits * to.lanes() < 128) {
        return nullptr;
    }
    const Type held = from.with_bits(bits);
    Value *v = b.CreateBitCast(f.emit(slice->vectors[0]), f.type(held));
    const int above = bits - from.bits() * (begin + 1);
    v = above > 0 ? b.CreateShl(v, uint64_t(above)) : v;
    const auto below = uint64_t(bits - from.bits());
    v = from.is_int() ? b.CreateAShr(v, below) : b.CreateLShr(v, below);
    // Signed conversions to floats are the fast ones.
    return f.convert(v, to.is_float() ? held.with_code(Type::Int) : held, to);
}

// Bytes at their places, and zeros where that is negative.
Value *bytes_between_zeros(FunctionEmitter &f, Value *v, const std::vector<int> &lanes) {
    const int zero = int(lanes.size());
    std::vector<int> indices;
    for (const int lane : lanes) {
        indices.push_back(lane < 0 ? zero : lane);
    }
    return f.shuffle(v, llvm::Constant::getNullValue(v->getType()), indices);
}

// Every fourth byte of two registers, in 16 bits: the first register's are the lower half of each 128 bits, the second's the
// upper one. LLVM takes the bytes of each half of a register out for themselves, and then makes them wider.
Value *channel_in_16_bits(FunctionEmitter &f, Value *first, Value *second, int channel, int bytes) {
    llvm::IRBuilder<> &b = f.builder();
    std::vector<int> lower(size_t(bytes), -1), upper(size_t(bytes), -1), order;
    for (int part = 0; part < bytes; part += 16) {
        for (int i = 0; i < 4; i++) {
            lower[size_t(part + 2 * i)] = upper[size_t(part + 8 + 2 * i)] = part + 4 * i + channel;
        }
    }
    for (int i = 0; i < bytes / 8; i++) {
        order.push_back(2 * i % (bytes / 8) + 2 * i / (bytes / 8));
    }
    Value *both =
        b.CreateOr(bytes_between_zeros(f, first, lower), bytes_between_zeros(f, second, upper));
    both = b.CreateBitCast(both, f.type(UInt(64, bytes / 8)));
    both = bytes > 16 ? f.shuffle(both, both, order) : both;
    return b.CreateBitCast(both, f.type(UInt(16, bytes / 2)));
}

// A channel of four of bytes that is computed with in 16 bits. Not where one instruction takes any bytes out of two registers.
Value *emit_channel_of_four(FunctionEmitter &f, const Cast *op) {
    const Shuffle *slice = op->value.as<Shuffle>();
    const Type from = op->value.type(), to = op->type;
    const Target &target = f.target();
    const int lanes = to.lanes();
    const bool is_channel = slice && slice->is_slice() && slice->slice_stride() == 4 &&
                            slice->vectors[0].type().lanes() == 4 * lanes;
    if (!is_channel || from != UInt(8, lanes) || !to.is_int_or_uint() || to.bits() != 16 ||
        target.arch != Target::X86 || !target.has_feature(Target::AVX2) ||
        f.machine().permutes_bytes_of_two(target)) {
        return nullptr;
    }
    const int bytes = std::min(vector_register_bits(target, false) / 8, 2 * lanes);
    if (bytes < 16 || 2 * lanes % bytes != 0) {
        return nullptr;
    }
    Value *pixels = f.emit(slice->vectors[0]);
    std::vector<Value *> parts;
    for (int begin = 0; begin < 4 * lanes; begin += 2 * bytes) {
        parts.push_back(channel_in_16_bits(f, f.slice(pixels, begin, bytes),
                                           f.slice(pixels, begin + bytes, bytes),
                                           slice->slice_begin(), bytes));
    }
    return f.concat(parts);
}

bool is_integer_of_bits(Type t, int least, int most) {
    return t.is_int_or_uint() && t.bits() >= least && t.bits() <= most;
}

bool is_known_to_fit(const Expr &e, Type to) {
    if (e.type().is_int_or_uint()) {
        return fits(constant_bounds(e), to.element_of());
    }
    const Interval range = bounds_of_expr(e, {}, {}, true);
    const auto least = range.has_lower_bound() ? as_const_float(simplify(range.min)) : std::nullopt;
    const auto largest =
        range.has_upper_bound() ? as_const_float(simplify(range.max)) : std::nullopt;
    // Not up to the next integer: sums are rounded.
    const double most = double((1 << to.bits()) - 1);
    return to.is_uint() && least && largest && *least >= 0 && *largest <= most + 0.5;
}

// Of a float that is kept from being less than zero, that which may be less: what packs makes zero of it, and of the smallest
// integer, which the conversion makes of numbers beyond the integers.
Expr without_lower_limit(const Expr &e, Type to) {
    const Max *limited = e.type().is_float() && to.is_uint() ? e.as<Max>() : nullptr;
    return limited && is_const_zero(limited->b) ? limited->a : e;
}

// What is known to fit is packed with saturation where the machine does that, and no lane has to be masked before. Of
// NaN the conversion makes the smallest integer, and that becomes zero in either way.
Value *emit_packed(FunctionEmitter &f, const Cast *op) {
    const Type from = op->value.type(), to = op->type;
    const Type held = from == Float(32, to.lanes()) ? Int(32, to.lanes()) : from;
    const bool narrows = to.is_vector() && is_integer_of_bits(to, 8, 16) &&
                         is_integer_of_bits(held, to.bits() + 1, 32);
    if (!narrows || !f.machine().packs(f.target(), held, to) || !is_known_to_fit(op->value, to)) {
        return nullptr;
    }
    Value *v = f.emit(without_lower_limit(op->value, to));
    v = from.is_float() ? f.builder().CreateFPToSI(v, f.type(held)) : v;
    return f.machine().packed(f, v, to);
}

// What is clamped to the limits of the narrower type is saturated by what packs it. Other instructions that saturate LLVM
// finds by the clamp to those limits.
Value *emit_saturated(FunctionEmitter &f, const Cast *op) {
    const Type from = op->value.type(), to = op->type;
    const Expr value = to.is_vector() ? value_before_saturation(op->value, to) : Expr();
    if (!value.defined()) {
        return nullptr;
    }
    if (f.machine().packs(f.target(), from, to)) {
        return f.machine().packed(f, f.emit(value), to);
    }
    const Type one = to.element_of();
    const Expr least = make_const(from, one.is_uint() ? 0 : one.imin()),
               most = make_const(from, one.is_uint() ? int64_t(one.umax()) : one.imax());
    return f.convert(f.emit(Max::make(Min::make(value, most), least)), from, to);
}

// What is made narrow, where it fits, and wide again is not made narrow; undefined if that is not what it is. Not of
// functions, which may be NaN: the narrow number, an index perhaps, would still be one of its type.
Expr without_narrow_cast(const Cast *op) {
    const auto *narrow = op->value.as<Cast>();
    if (!narrow || !op->type.is_vector() || !is_integer_of_bits(narrow->type, 8, 16)) {
        return Expr();
    }
    const Type to = op->type, held = narrow->type, from = narrow->value.type();
    const bool widens =
        to == Float(32, to.lanes()) ||
        (to.is_int_or_uint() && to.bits() > held.bits() && (to.is_int() || held.is_uint()));
    const bool narrows =
        is_integer_of_bits(from, held.bits() + 1, 32) ||
        (from == Float(32, to.lanes()) && !contains_kind(narrow->value, NodeKind::Call));
    if (!widens || !narrows || !is_known_to_fit(narrow->value, held)) {
        return Expr();
    }
    const Expr value =
        from.is_float() ? Cast::make(Int(32, to.lanes()), narrow->value) : narrow->value;
    return value.type() == to ? value : Cast::make(to, value);
}

bool is_of_bytes(const Expr &e, calotype_type_code_t code) {
    return lossless_cast(Type(code, 8, e.type().lanes()), e).defined();
}

// A product of bytes that 16 bits hold and that is made wider, as a product of wider factors, if one register holds it;
// else undefined. Factors are often shared, or made wider as they are loaded: what is left is a multiplication in place of
// one and an extension.
Expr wide_product(const Cast *op, const Target &target) {
    const Mul *product = op->value.as<Mul>();
    const Type to = op->type;
    if (!product || product->type.bits() != 16 || !is_integer_of_bits(to, 32, 32) ||
        !to.is_vector() || to.lanes() * to.bits() > vector_register_bits(target, false)) {
        return Expr();
    }
    const Expr &a = product->a, &b = product->b;
    const bool a_unsigned = is_of_bytes(a, Type::UInt), b_unsigned = is_of_bytes(b, Type::UInt);
    const bool a_signed = is_of_bytes(a, Type::Int), b_signed = is_of_bytes(b, Type::Int);
    const bool is_kept = product->type.is_uint()
                             ? a_unsigned && b_unsigned
                             : (a_signed && (b_signed || b_unsigned)) || (a_unsigned && b_signed);
    return is_kept ? Mul::make(cast(to, a), cast(to, b)) : Expr();
}

}  // namespace

Value *FunctionEmitter::emit_node(const Cast *op) {
    if (Value *v = emit_channel_of_four(*this, op)) {
        return v;
    }
    if (Value *v = emit_widened_slice(*this, op)) {
        return v;
    }
    if (const Expr product = wide_product(op, target()); product.defined()) {
        return emit(product);
    }
    if (const Expr same = without_narrow_cast(op); same.defined()) {
        return emit(same);
    }
    if (Value *v = emit_saturated(*this, op)) {
        return v;
    }
    if (Value *v = emit_packed(*this, op)) {
        return v;
    }
    return convert(emit(op->value), op->value.type(), op->type);
}

Value *FunctionEmitter::emit_node(const Reinterpret *op) {
    Type from = op->value.type(), to = op->type;
    Value *v = emit(op->value);
    if (from.is_handle() && !to.is_handle()) {
        return b_.CreateBitCast(b_.CreatePtrToInt(v, type(from.with_code(Type::UInt))), type(to));
    }
    if (to.is_handle() && !from.is_handle()) {
        return b_.CreateIntToPtr(b_.CreateBitCast(v, type(to.with_code(Type::UInt))), type(to));
    }
    return b_.CreateBitCast(v, type(to));
}

Value *FunctionEmitter::convert(Value *v, Type from, Type to) {
    from = from.with_lanes(to.lanes());
    if (from == to) {
        return v;
    }
    if (to.is_handle() || from.is_handle()) {
        if (to.is_handle()) {
            return from.is_handle() ? v : b_.CreateIntToPtr(v, type(to));
        }
        if (to.is_bool()) {
            return b_.CreateIsNotNull(v);
        }
        return b_.CreatePtrToInt(v, type(to));
    }
    if (to.is_float()) {
        return from.is_float() ? convert_float(v, from, to) : int_to_float(v, from, to);
    }
    if (from.is_float()) {
        return float_to_int(v, from, to);
    }
    if (to.is_bool()) {
        return b_.CreateIsNotNull(v);
    }
    return b_.CreateIntCast(v, type(to), from.is_int());
}

Value *FunctionEmitter::int_to_float(Value *v, Type from, Type to) {
    if (is_small_float(to)) {
        // float32 holds 16-bit integers exactly; wider ones go through float64, rounded to odd.
        Type wide = Float(from.bits() <= 16 ? 32 : 64, to.lanes());
        return convert_float(int_to_float(v, from, wide), wide, to);
    }
    if (from.is_uint() && from.bits() < 32) {
        // The sign bit is known to be clear, and signed conversions are the fast ones.
        from = Int(32, from.lanes());
        v = b_.CreateZExt(v, type(from));
    }
    return from.is_int() ? b_.CreateSIToFP(v, type(to)) : b_.CreateUIToFP(v, type(to));
}

Value *FunctionEmitter::float_to_int(Value *v, Type from, Type to) {
    if (is_small_float(from)) {
        return float_to_int(small_float_to_float32(v, from), Float(32, to.lanes()), to);
    }
    if (to.is_bool()) {
        return b_.CreateFCmpUNE(v, llvm::Constant::getNullValue(v->getType()));
    }
    if (to.bits() < 32) {
        Value *wide = b_.CreateFPToSI(v, type(Int(32, to.lanes())));
        return b_.CreateTrunc(wide, type(to));
    }
    return to.is_int() ? b_.CreateFPToSI(v, type(to)) : b_.CreateFPToUI(v, type(to));
}

Value *FunctionEmitter::convert_float(Value *v, Type from, Type to) {
    if (is_small_float(from)) {
        v = small_float_to_float32(v, from);
        from = Float(32, to.lanes());
        if (from == to) {
            return v;
        }
    }
    if (is_small_float(to)) {
        if (from.bits() == 64) {
            v = float64_to_float32_round_to_odd(v);
        }
        return float32_to_small_float(v, to);
    }
    return b_.CreateFPCast(v, type(to));
}

Value *FunctionEmitter::small_float_to_float32(Value *v, Type from) {
    int lanes = lanes_of(v->getType());
    llvm::Type *i32 = type(Int(32, lanes)), *f32 = type(Float(32, lanes));
    if (from.is_bfloat()) {
        return b_.CreateBitCast(b_.CreateShl(b_.CreateZExt(v, i32), 16), f32);
    }
    if (machine_.converts_float16(target())) {
        llvm::Type *half = with_lanes(b_.getHalfTy(), lanes);
        return b_.CreateFPExt(b_.CreateBitCast(v, half), f32);
    }
    // Moved to float32's place the exponent is 112 too small; a multiplication by 2^112 corrects
    // that for normal and subnormal numbers alike. Infinity and NaN get the largest exponent.
    Value *wide = b_.CreateZExt(v, i32);
    Value *magnitude = b_.CreateShl(b_.CreateAnd(wide, int_constant(i32, 0x7fff)), 13);
    Value *scaled = with_strict_float([&] {
        return b_.CreateFMul(b_.CreateBitCast(magnitude, f32), llvm::ConstantFP::get(f32, 0x1p112));
    });
    Value *special = b_.CreateOr(magnitude, int_constant(i32, 0x7f800000));
    Value *is_special = b_.CreateICmpUGE(magnitude, int_constant(i32, 0x0f800000));
    Value *bits = b_.CreateSelect(is_special, special, b_.CreateBitCast(scaled, i32));
    Value *sign = b_.CreateShl(b_.CreateAnd(wide, int_constant(i32, 0x8000)), 16);
    return b_.CreateBitCast(b_.CreateOr(bits, sign), f32);
}

Value *FunctionEmitter::float32_to_small_float(Value *v, Type to) {
    int lanes = lanes_of(v->getType());
    llvm::Type *i32 = type(Int(32, lanes)), *f32 = type(Float(32, lanes));
    llvm::Type *i16 = type(UInt(16, lanes));
    if (!to.is_bfloat() && machine_.converts_float16(target())) {
        return b_.CreateBitCast(b_.CreateFPTrunc(v, with_lanes(b_.getHalfTy(), lanes)), i16);
    }
    if (to.is_bfloat() && machine_.rounds_to_bfloat16()) {
        return b_.CreateBitCast(b_.CreateFPTrunc(v, with_lanes(b_.getBFloatTy(), lanes)), i16);
    }
    Value *bits = b_.CreateBitCast(v, i32);
    Value *magnitude = b_.CreateAnd(bits, int_constant(i32, 0x7fffffff));
    Value *is_nan = b_.CreateICmpUGT(magnitude, int_constant(i32, 0x7f800000));
    if (to.is_bfloat()) {
        Value *odd = b_.CreateAnd(b_.CreateLShr(bits, 16), int_constant(i32, 1));
        Value *rounded = b_.CreateAdd(b_.CreateAdd(bits, int_constant(i32, 0x7fff)), odd);
        if (has_nans_of_bfloat16(v)) {
            return b_.CreateTrunc(b_.CreateLShr(rounded, 16), i16);
        }
        Value *quiet = b_.CreateOr(bits, int_constant(i32, 0x400000));
        return b_.CreateTrunc(b_.CreateLShr(b_.CreateSelect(is_nan, quiet, rounded), 16), i16);
    }
    // Subnormal results: adding 1/2 leaves the rounded result in the low bits of the sum.
    Value *subnormal = with_strict_float([&] {
        Value *sum =
            b_.CreateFAdd(b_.CreateBitCast(magnitude, f32), llvm::ConstantFP::get(f32, 0.5));
        return b_.CreateSub(b_.CreateBitCast(sum, i32), int_constant(i32, 0x3f000000));
    });
    Value *odd = b_.CreateAnd(b_.CreateLShr(magnitude, 13), int_constant(i32, 1));
    Value *rebased = b_.CreateAdd(b_.CreateSub(magnitude, int_constant(i32, 112 << 23)),
                                  b_.CreateAdd(odd, int_constant(i32, 0xfff)));
    Value *normal = b_.CreateLShr(rebased, 13);
    Value *result = b_.CreateSelect(b_.CreateICmpULT(magnitude, int_constant(i32, 113 << 23)),
                                    subnormal, normal);
    Value *too_large = b_.CreateICmpUGE(magnitude, int_constant(i32, 0x47800000));
    result = b_.CreateSelect(too_large, int_constant(i32, 0x7c00), result);
    Value *payload = b_.CreateAnd(b_.CreateLShr(magnitude, 13), int_constant(i32, 0x3ff));
    result = b_.CreateSelect(is_nan, b_.CreateOr(payload, int_constant(i32, 0x7e00)), result);
    Value *sign = b_.CreateAnd(b_.CreateLShr(bits, 16), int_constant(i32, 0x8000));
    return b_.CreateTrunc(b_.CreateOr(result, sign), i16);
}

// The float32 toward zero from v, its last bit set if that was not exact.
Value *FunctionEmitter::float64_to_float32_round_to_odd(Value *v) {
    int lanes = lanes_of(v->getType());
    llvm::Type *i32 = type(Int(32, lanes)), *f32 = type(Float(32, lanes));
    return with_strict_float([&] {
        Value *nearest = b_.CreateFPTrunc(v, f32);
        Value *back = b_.CreateFPExt(nearest, v->getType());
        Value *bits = b_.CreateBitCast(nearest, i32);
        Value *magnitude_of_v = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, v);
        Value *magnitude_back = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back);
        Value *is_away = b_.CreateFCmpOGT(magnitude_back, magnitude_of_v);
        Value *toward_zero = b_.CreateSub(bits, b_.CreateZExt(is_away, i32));
        Value *inexact = b_.CreateFCmpONE(back, v);
        Value *result = b_.CreateOr(toward_zero, b_.CreateZExt(inexact, i32));
        return b_.CreateBitCast(result, f32);
    });
}

}  // namespace calotype::internal
