// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM's intrinsics for them come in three sizes for each type, and take what is between lanes that
// a mask leaves out, which is none here.
#include "codegen/x86/exponents.h"

#include <llvm/IR/IntrinsicsX86.h>

namespace calotype::internal {

using llvm::Value;

namespace {

namespace X = llvm::Intrinsic;

/// For float32, then float64: vectors of 128, 256 and 512 bits.
using Sizes = X::ID[2][3];

constexpr Sizes scale = {
    {X::x86_avx512_mask_scalef_ps_128, X::x86_avx512_mask_scalef_ps_256,
     X::x86_avx512_mask_scalef_ps_512},
    {X::x86_avx512_mask_scalef_pd_128, X::x86_avx512_mask_scalef_pd_256,
     X::x86_avx512_mask_scalef_pd_512},
};
constexpr Sizes get_exponent = {
    {X::x86_avx512_mask_getexp_ps_128, X::x86_avx512_mask_getexp_ps_256,
     X::x86_avx512_mask_getexp_ps_512},
    {X::x86_avx512_mask_getexp_pd_128, X::x86_avx512_mask_getexp_pd_256,
     X::x86_avx512_mask_getexp_pd_512},
};
constexpr Sizes get_mantissa = {
    {X::x86_avx512_mask_getmant_ps_128, X::x86_avx512_mask_getmant_ps_256,
     X::x86_avx512_mask_getmant_ps_512},
    {X::x86_avx512_mask_getmant_pd_128, X::x86_avx512_mask_getmant_pd_256,
     X::x86_avx512_mask_getmant_pd_512},
};

constexpr uint32_t current_rounding = 4;
/// Of a mantissa: from 1 to 2 or from 3/4 to 3/2, without the sign.
constexpr uint32_t from_one_to_two = 4, from_three_quarters = 7;

/// All lanes of an operation of one or two vectors of type t and maybe a constant.
Value *apply(FunctionEmitter &f, const Sizes &ids, const std::vector<Value *> &args, Type t,
             Value *constant) {
    llvm::IRBuilder<> &b = f.builder();
    const int bits = t.bits() * t.lanes();
    const int size = bits <= 128 ? 0 : bits <= 256 ? 1 : 2;
    const int lanes = (128 << size) / t.bits();
    return f.by_pieces(args, lanes, [&](std::vector<Value *> operands) {
        llvm::Type *vector = operands[0]->getType();
        if (constant) {
            operands.push_back(constant);
        }
        operands.push_back(llvm::PoisonValue::get(vector));
        operands.push_back(
            llvm::ConstantInt::getAllOnesValue(b.getIntNTy(unsigned(std::max(lanes, 8)))));
        if (size == 2) {
            operands.push_back(b.getInt32(current_rounding));
        }
        return b.CreateIntrinsic(ids[t.bits() == 64][size], {}, operands);
    });
}

}  // namespace

bool x86_has_exponents(const Target &target, Type t) {
    return t.is_vector() && target.has_feature(Target::AVX512_Skylake);
}

Value *x86_scaled(FunctionEmitter &f, Value *x, Value *n, Type t) {
    return apply(f, scale, {x, n}, t, nullptr);
}

void x86_split_exponent(FunctionEmitter &f, Value *x, Type t, Value **m, Value **e) {
    llvm::IRBuilder<> &b = f.builder();
    const bool from_one = t.bits() == 64;
    *m = apply(f, get_mantissa, {x}, t,
               b.getInt32(from_one ? from_one_to_two : from_three_quarters));
    *e = apply(f, get_exponent, {x}, t, nullptr);
    if (!from_one) {
        // The exponent is that of the mantissa from 1 to 2, half of which this one may be.
        Value *one = llvm::ConstantFP::get((*m)->getType(), 1.0);
        *e = b.CreateSelect(b.CreateFCmpOLT(*m, one), b.CreateFAdd(*e, one), *e);
    }
}

}  // namespace calotype::internal
