// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Division and remainder of integers: the remainder is never negative, and by zero both are zero.
//
// By a constant: signed x / d is a multiplication by a reciprocal. Let s be x's sign spread over
// all bits (0 or -1). x ^ s is x or -x - 1, at least 0 and below 2^(N-1), and for d > 0
//     floor(x / d) == ((x ^ s) / d) ^ s
// where for such small values the reciprocal fits N bits: with l = ceil(log2 d) and
// m = floor(2^(N-1+l) / d) + 1, the quotient is the high half of (x ^ s) * m shifted right by l
// - 1.
//
// Bytes x, with m = ceil(2^16 / d): x * m / 2^16 is more than x / d, by less than 1 / d, so the high
// half of a product of 16 bits is the quotient. A register of bytes is taken for one of pairs: the
// lower byte of each is divided, and the upper one where it stands.
//
// By a variable: vector registers have no integer division in hardware; up to 32 bits the quotient
// rounded from the next wider float is exact after truncation. (Devices whose registers hold one
// element divide each by itself.) The divisor is made harmless first, so that no lane traps.
#include "codegen/llvm/emitter.h"
#include "support/error.h"

namespace calotype::internal {

using llvm::Value;

namespace {

/// The value of a constant that has it in all lanes, if it fits 64 signed bits.
const llvm::ConstantInt *uniform_constant(Value *v) {
    auto *constant = llvm::dyn_cast<llvm::Constant>(v);
    if (constant && constant->getType()->isVectorTy()) {
        constant = constant->getSplatValue();
    }
    return llvm::dyn_cast_or_null<llvm::ConstantInt>(constant);
}

int ceil_log2(uint64_t d) {
    int l = 0;
    while (l < 64 && (uint64_t(1) << l) < d) {
        l++;
    }
    return l;
}

/// A quotient, or what is left of a division.
enum class Part { Quotient, Remainder };

/// What unsigned bytes are divided by, if they are vectors and it takes a product; else 0.
uint64_t divisor_of_bytes(const FunctionEmitter &f, const Type &t, const llvm::ConstantInt &d) {
    const bool is_product =
        d.getValue().ult(256) && d.getValue().ugt(2) && !d.getValue().isPowerOf2();
    return t.is_uint() && t.is_vector() && !f.machine().has_scalar_registers() && is_product
               ? d.getZExtValue()
               : 0;
}

Value *reciprocal_of(uint64_t d, llvm::Type *words) {
    return llvm::ConstantInt::get(words, (65535 + d) / d);
}

Value *divide_words(FunctionEmitter &f, Value *words, uint64_t d, Part part) {
    llvm::IRBuilder<> &b = f.builder();
    llvm::Type *type = words->getType();
    Value *quotient = f.multiply_high_unsigned(words, reciprocal_of(d, type));
    return part == Part::Quotient
               ? quotient
               : b.CreateSub(words, b.CreateMul(quotient, llvm::ConstantInt::get(type, d)));
}

/// Of a register that holds two bytes in each of its words.
Value *divide_pairs(FunctionEmitter &f, Value *bytes, uint64_t d, Part part) {
    llvm::IRBuilder<> &b = f.builder();
    llvm::Type *pairs = with_lanes(b.getInt16Ty(), lanes_of(bytes->getType()) / 2);
    Value *upper = llvm::ConstantInt::get(pairs, 0xff00), *m = reciprocal_of(d, pairs);
    Value *v = b.CreateBitCast(bytes, pairs);
    Value *lower = f.multiply_high_unsigned(b.CreateAnd(v, llvm::ConstantInt::get(pairs, 0xff)), m);
    Value *raised = b.CreateAnd(f.multiply_high_unsigned(b.CreateAnd(v, upper), m), upper);
    Value *quotients = b.CreateOr(lower, raised);
    if (part == Part::Quotient) {
        return b.CreateBitCast(quotients, bytes->getType());
    }
    // No product exceeds its byte.
    Value *products = b.CreateMul(quotients, llvm::ConstantInt::get(pairs, d));
    return b.CreateSub(bytes, b.CreateBitCast(products, bytes->getType()));
}

/// Of bytes, or of what they are as wider integers; null if it is something else.
Value *divide_bytes(FunctionEmitter &f, Value *a, const llvm::ConstantInt &by, const Type &t,
                    Part part) {
    const uint64_t d = divisor_of_bytes(f, t, by);
    if (d == 0) {
        return nullptr;
    }
    llvm::IRBuilder<> &b = f.builder();
    llvm::Type *type = a->getType();
    const int lanes = lanes_of(type);
    if (type->getScalarSizeInBits() == 8) {
        return lanes % 2 == 0 ? divide_pairs(f, a, d, part) : nullptr;
    }
    const auto *extended = llvm::dyn_cast<llvm::ZExtInst>(a);
    if (!extended || extended->getSrcTy()->getScalarSizeInBits() != 8) {
        return nullptr;
    }
    Value *words = b.CreateZExt(extended->getOperand(0), with_lanes(b.getInt16Ty(), lanes));
    return b.CreateZExt(divide_words(f, words, d, part), type);
}

}  // namespace

// High half of the product of unsigned integers. Vectors of 32 bits are taken for vectors of 64,
// whose lower and upper halves are multiplied one after the other: nothing is moved between lanes.
Value *FunctionEmitter::multiply_high_unsigned(Value *a, Value *b) {
    if (Value *product = machine_.high_product(*this, a, b)) {
        return product;
    }
    llvm::Type *narrow = a->getType();
    unsigned bits = narrow->getScalarSizeInBits();
    const int lanes = lanes_of(narrow);
    if (bits == 32 && lanes > 1 && lanes % 2 == 0 && !machine_.has_scalar_registers()) {
        llvm::Type *pairs = with_lanes(b_.getInt64Ty(), lanes / 2);
        Value *low = int_constant(pairs, 0xffffffff);
        const auto lower = [&](Value *v) {
            return b_.CreateAnd(b_.CreateBitCast(v, pairs), low);
        };
        const auto upper = [&](Value *v) {
            return b_.CreateLShr(b_.CreateBitCast(v, pairs), 32);
        };
        Value *even = b_.CreateLShr(b_.CreateNUWMul(lower(a), lower(b)), 32);
        Value *odd = b_.CreateAnd(b_.CreateNUWMul(upper(a), upper(b)), b_.CreateNot(low));
        return b_.CreateBitCast(b_.CreateOr(even, odd), narrow);
    }
    llvm::Type *wide = with_lanes(b_.getIntNTy(bits * 2), lanes);
    Value *product = b_.CreateNUWMul(b_.CreateZExt(a, wide), b_.CreateZExt(b, wide));
    return b_.CreateTrunc(b_.CreateLShr(product, bits), narrow);
}

Value *FunctionEmitter::divide_by_constant(Value *a, int64_t divisor, Type t) {
    llvm::Type *lt = a->getType();
    int bits = t.bits();
    if (divisor < 0) {
        if (divisor == t.imin()) {
            // Quotients: 1 for the divisor itself and all other negative numbers, else 0.
            return b_.CreateZExt(b_.CreateICmpSLT(a, llvm::Constant::getNullValue(lt)), lt);
        }
        return b_.CreateNeg(divide_by_constant(a, -divisor, t));
    }
    uint64_t d = uint64_t(divisor);
    int l = ceil_log2(d);
    if ((d & (d - 1)) == 0) {
        return l == 0 ? a : b_.CreateAShr(a, uint64_t(l));
    }
    auto numerator = static_cast<unsigned __int128>(1) << (bits - 1 + l);
    uint64_t reciprocal = uint64_t(numerator / d) + 1;
    Value *sign = b_.CreateAShr(a, uint64_t(bits - 1));
    Value *magnitude = b_.CreateXor(a, sign);
    Value *high = multiply_high_unsigned(magnitude, llvm::ConstantInt::get(lt, reciprocal));
    return b_.CreateXor(b_.CreateLShr(high, uint64_t(l - 1)), sign);
}

// The quotient toward zero where b is neither 0 nor, for signed, -1; something elsewhere.
Value *FunctionEmitter::safe_quotient(Value *a, Value *b, Type t) {
    llvm::Type *lt = a->getType();
    if (t.is_vector() && t.bits() <= 32 && t.bits() > 1 && !machine_.has_scalar_registers()) {
        Type real = Float(t.bits() <= 16 ? 32 : 64, t.lanes());
        return with_strict_float([&] {
            Value *q = b_.CreateFDiv(int_to_float(a, t, real), int_to_float(b, t, real));
            return float_to_int(q, real, t);
        });
    }
    if (t.bits() < 32) {
        Type wide = t.with_bits(32);
        Value *q = safe_quotient(b_.CreateIntCast(a, type(wide), t.is_int()),
                                 b_.CreateIntCast(b, type(wide), t.is_int()), wide);
        return b_.CreateTrunc(q, lt);
    }
    return t.is_int() ? b_.CreateSDiv(a, b) : b_.CreateUDiv(a, b);
}

void FunctionEmitter::euclidean(Value *a, Value *b, Type t, Value **quotient, Value **remainder) {
    llvm::Type *lt = a->getType();
    // Overflow is undefined, but must not become a division that traps.
    b = b_.CreateFreeze(b);
    a = t.is_int() ? b_.CreateFreeze(a) : a;
    Value *zero = llvm::Constant::getNullValue(lt), *one = int_constant(lt, 1);
    Value *by_zero = b_.CreateICmpEQ(b, zero);
    if (t.is_uint()) {
        Value *q = safe_quotient(a, b_.CreateSelect(by_zero, one, b), t);
        *quotient = b_.CreateSelect(by_zero, zero, q);
        *remainder = b_.CreateSelect(by_zero, zero, b_.CreateSub(a, b_.CreateMul(q, b)));
        return;
    }
    // -1 is left out too: the smallest number divided by it traps.
    Value *minus_one = int_constant(lt, -1);
    Value *by_minus_one = b_.CreateICmpEQ(b, minus_one);
    Value *special = b_.CreateOr(by_zero, by_minus_one);
    Value *divisor = b_.CreateSelect(special, one, b);
    Value *q = safe_quotient(a, divisor, t);
    Value *r = b_.CreateSub(a, b_.CreateMul(q, divisor));
    Value *r_sign = b_.CreateAShr(r, uint64_t(t.bits() - 1));
    // For a negative remainder: one divisor more or less in it, one less or more in the quotient.
    Value *b_sign = b_.CreateAShr(divisor, uint64_t(t.bits() - 1));
    Value *step = b_.CreateOr(b_sign, one);
    q = b_.CreateSub(q, b_.CreateAnd(r_sign, step));
    r = b_.CreateAdd(r, b_.CreateAnd(r_sign, b_.CreateMul(divisor, step)));
    Value *special_quotient = b_.CreateSelect(by_zero, zero, b_.CreateNeg(a));
    *quotient = b_.CreateSelect(special, special_quotient, q);
    *remainder = b_.CreateSelect(special, zero, r);
}

namespace {

// LLVM makes (a * c) / b of (a / b) * c, wherever it stands: a quotient that multiplies each channel of a pixel would
// be one for each of them, before it is seen that they are the same.
Value *whole_quotient(llvm::IRBuilderBase &b, Value *x, Value *y) {
    Value *quotient = b.CreateFDiv(x, y);
    if (auto *i = llvm::dyn_cast<llvm::Instruction>(quotient); i && !llvm::isa<llvm::Constant>(y)) {
        i->setHasAllowReassoc(false);
    }
    return quotient;
}

}  // namespace

Value *FunctionEmitter::divide(Value *a, Value *b, Type t) {
    if (t.is_float()) {
        return whole_quotient(b_, a, b);
    }
    if (t.is_bool()) {
        return b_.CreateAnd(a, b);
    }
    if (const llvm::ConstantInt *d = uniform_constant(b)) {
        if (d->isZero()) {
            return llvm::Constant::getNullValue(a->getType());
        }
        if (t.is_int()) {
            return divide_by_constant(a, d->getSExtValue(), t);
        }
        Value *quotient = divide_bytes(*this, a, *d, t, Part::Quotient);
        return quotient ? quotient : b_.CreateUDiv(a, b);
    }
    Value *quotient, *remainder;
    euclidean(a, b, t, &quotient, &remainder);
    return quotient;
}

// Floats: a - b * floor(a / b).
Value *FunctionEmitter::modulo(Value *a, Value *b, Type t) {
    if (t.is_float()) {
        Value *q = b_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, b_.CreateFDiv(a, b));
        return b_.CreateFSub(a, b_.CreateFMul(b, q));
    }
    if (t.is_bool()) {
        return llvm::Constant::getNullValue(a->getType());
    }
    if (const llvm::ConstantInt *d = uniform_constant(b)) {
        if (d->isZero()) {
            return llvm::Constant::getNullValue(a->getType());
        }
        if (t.is_uint()) {
            Value *rest = divide_bytes(*this, a, *d, t, Part::Remainder);
            return rest ? rest : b_.CreateURem(a, b);
        }
        int64_t divisor = d->getSExtValue();
        uint64_t magnitude = divisor < 0 ? 0 - uint64_t(divisor) : uint64_t(divisor);
        if ((magnitude & (magnitude - 1)) == 0) {
            return b_.CreateAnd(a, llvm::ConstantInt::get(a->getType(), magnitude - 1));
        }
        return b_.CreateSub(a, b_.CreateMul(divide_by_constant(a, divisor, t), b));
    }
    Value *quotient, *remainder;
    euclidean(a, b, t, &quotient, &remainder);
    return remainder;
}

}  // namespace calotype::internal
