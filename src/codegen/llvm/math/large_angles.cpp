// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trigonometric functions of angles of any size, for machines without a C library.
//
// x = m 2^e with a whole m of 53 bits. Of x * 2 / pi only what is left modulo 4 counts, so of the
// bits of 2 / pi those that stand for multiples of 4 after the product with 2^e are skipped. From
// there 192 bits are multiplied by m, modulo 2^192:
//
//     2 / pi   0 . 1 0 1 0 0 0 1 [ 0 1 1 1 1 1 0 0 ... 192 bits ] ...
//     product                    q q f f f f f f ...              q: the quadrant, f: its fraction
//
// No double is nearer to a multiple of pi / 2 than 2^-62 of it, so the 126 bits of fraction that
// are used hold a double's worth of digits in every case.
#include <llvm/IR/Intrinsics.h>

#include "codegen/llvm/math/math.h"
#include "support/error.h"

namespace calotype::internal {

using llvm::Value;

namespace {

/// The bits of 2 / pi, after 64 zeros for angles that skip none.
const uint64_t two_over_pi_bits[] = {
    0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
    0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e,
    0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
    0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
    0xf0cfbc209af4361d,
};
constexpr int64_t first_bit = 62;  ///< of the table, for an exponent of 0

constexpr double half_pi = 0x1.921fb54442d18p+0;

/// The address of the table in the module.
llvm::GlobalVariable *table(llvm::Module &module) {
    const char *name = "calotype_two_over_pi";
    if (llvm::GlobalVariable *known = module.getGlobalVariable(name, true)) {
        return known;
    }
    llvm::Constant *bits = llvm::ConstantDataArray::get(module.getContext(), two_over_pi_bits);
    return new llvm::GlobalVariable(module, bits->getType(), true,
                                    llvm::GlobalValue::InternalLinkage, bits, name);
}

}  // namespace

// The signed fraction f / 2^128 as a double, correct however small it is.
Value *MathEmitter::scaled_fraction(Value *fraction) {
    llvm::Type *wide = fraction->getType(), *i64 = b_.getInt64Ty();
    Value *zero = llvm::Constant::getNullValue(wide);
    Value *is_negative = b_.CreateICmpSLT(fraction, zero);
    Value *magnitude = b_.CreateSelect(is_negative, b_.CreateNeg(fraction), fraction);
    Value *high = b_.CreateTrunc(b_.CreateLShr(magnitude, 64), i64);
    Value *low = b_.CreateTrunc(magnitude, i64);
    auto zeros_of = [&](Value *v) {
        return b_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, v, b_.getFalse());
    };
    Value *zeros = b_.CreateSelect(b_.CreateIsNull(high),
                                   b_.CreateAdd(zeros_of(low), b_.getInt64(64)), zeros_of(high));
    zeros = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, zeros, b_.getInt64(127));
    Value *moved = b_.CreateShl(magnitude, b_.CreateZExt(zeros, wide));
    Value *top = b_.CreateUIToFP(b_.CreateTrunc(b_.CreateLShr(moved, 64), i64), float_type_);
    // 2^(-64 - zeros)
    Value *exponent = b_.CreateSub(b_.getInt64(1023 - 64), zeros);
    Value *scale = b_.CreateBitCast(b_.CreateShl(exponent, 52), float_type_);
    Value *v = b_.CreateFMul(top, scale);
    return b_.CreateSelect(is_negative, b_.CreateFNeg(v), v);
}

// x = quadrant * pi / 2 + r, for scalars of float64 above 2^15.
void MathEmitter::reduce_large_angle(Value *x, Value **r, Value **quadrant) {
    internal_assert(is_double() && type_.is_scalar()) << "large angles are reduced in float64";
    llvm::Type *i64 = b_.getInt64Ty(), *wide = b_.getInt128Ty();
    Value *bits = bits_of(x);
    Value *biased = b_.CreateAnd(b_.CreateLShr(bits, 52), b_.getInt64(0x7ff));
    Value *m = b_.CreateOr(b_.CreateAnd(bits, b_.getInt64((uint64_t(1) << 52) - 1)),
                           b_.getInt64(uint64_t(1) << 52));
    // Infinity and NaN take the place of the largest exponent; their result is not used.
    biased = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, biased, b_.getInt64(2046));
    Value *position = b_.CreateAdd(biased, b_.getInt64(uint64_t(first_bit - 1075)));
    Value *word = b_.CreateLShr(position, 6), *shift = b_.CreateAnd(position, b_.getInt64(63));
    llvm::GlobalVariable *bits_table = table(f_.module().llvm());
    Value *words[4];
    for (uint64_t i = 0; i < 4; i++) {
        Value *p = b_.CreateGEP(i64, bits_table, b_.CreateAdd(word, b_.getInt64(i)));
        words[i] = b_.CreateLoad(i64, p);
    }
    Value *window[3];
    for (int i = 0; i < 3; i++) {
        window[i] =
            b_.CreateIntrinsic(llvm::Intrinsic::fshl, {i64}, {words[i], words[i + 1], shift});
    }
    // The upper 128 of 192 bits.
    auto in_128 = [&](Value *v) {
        return b_.CreateZExt(v, wide);
    };
    Value *lowest = b_.CreateLShr(b_.CreateMul(in_128(m), in_128(window[2])), 64);
    Value *product = b_.CreateAdd(b_.CreateMul(in_128(m), in_128(window[1])), lowest);
    Value *top = b_.CreateShl(in_128(b_.CreateMul(m, window[0])), 64);
    product = b_.CreateAdd(product, top);
    Value *fraction = b_.CreateShl(product, 2);
    Value *is_upper = b_.CreateLShr(fraction, 127);
    Value *q = b_.CreateTrunc(b_.CreateAdd(b_.CreateLShr(product, 126), is_upper), i64);
    Value *angle = b_.CreateFMul(scaled_fraction(fraction), constant(half_pi));
    Value *negative = is_negative(x);
    *r = b_.CreateSelect(negative, b_.CreateFNeg(angle), angle);
    *quadrant = b_.CreateSelect(negative, b_.CreateNeg(q), q);
}

Value *MathEmitter::of_large_angle(const std::string &name, Value *x) {
    if (!is_double()) {
        MathEmitter wide(f_, Float(64));
        Value *v = wide.of_large_angle(name, b_.CreateFPExt(x, wide.float_type_));
        return b_.CreateFPTrunc(v, float_type_);
    }
    Value *r, *q;
    reduce_large_angle(x, &r, &q);
    Value *s = sine_kernel(r), *c = cosine_kernel(r), *v;
    q = name == "cos" ? b_.CreateAdd(q, bits_constant(1)) : q;
    Value *is_odd = b_.CreateIsNotNull(b_.CreateAnd(q, bits_constant(1)));
    if (name == "tan") {
        v = b_.CreateFDiv(b_.CreateSelect(is_odd, b_.CreateFNeg(c), s),
                          b_.CreateSelect(is_odd, s, c));
    } else {
        Value *sign = b_.CreateShl(b_.CreateAnd(q, bits_constant(2)), 62);
        v = from_bits(b_.CreateXor(bits_of(b_.CreateSelect(is_odd, c, s)), sign));
    }
    // Infinity minus itself is NaN.
    Value *is_finite = b_.CreateFCmpOLT(absolute(x), constant(__builtin_inf()));
    return b_.CreateSelect(is_finite, v, b_.CreateFSub(x, x));
}

}  // namespace calotype::internal
