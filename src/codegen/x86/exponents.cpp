// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM's intrinsics for them come in four sizes for each type, and take what is between lanes that
// a mask leaves out, which is none here.
#include "codegen/x86/exponents.h"

#include <llvm/IR/IntrinsicsX86.h>

namespace calotype::internal {

using llvm::Value;

namespace {

namespace X = llvm::Intrinsic;

/// For float32, then float64: vectors of 128, 256 and 512 bits, then scalars.
using Sizes = X::ID[2][4];

constexpr Sizes scale = {
    {X::x86_avx512_mask_scalef_ps_128, X::x86_avx512_mask_scalef_ps_256,
     X::x86_avx512_mask_scalef_ps_512, X::x86_avx512_mask_scalef_ss},
    {X::x86_avx512_mask_scalef_pd_128, X::x86_avx512_mask_scalef_pd_256,
     X::x86_avx512_mask_scalef_pd_512, X::x86_avx512_mask_scalef_sd},
};
constexpr Sizes get_exponent = {
    {X::x86_avx512_mask_getexp_ps_128, X::x86_avx512_mask_getexp_ps_256,
     X::x86_avx512_mask_getexp_ps_512, X::x86_avx512_mask_getexp_ss},
    {X::x86_avx512_mask_getexp_pd_128, X::x86_avx512_mask_getexp_pd_256,
     X::x86_avx512_mask_getexp_pd_512, X::x86_avx512_mask_getexp_sd},
};
constexpr Sizes get_mantissa = {
    {X::x86_avx512_mask_getmant_ps_128, X::x86_avx512_mask_getmant_ps_256,
     X::x86_avx512_mask_getmant_ps_512, X::x86_avx512_mask_getmant_ss},
    {X::x86_avx512_mask_getmant_pd_128, X::x86_avx512_mask_getmant_pd_256,
     X::x86_avx512_mask_getmant_pd_512, X::x86_avx512_mask_getmant_sd},
};

constexpr uint32_t current_rounding = 4;
/// Of a mantissa: from 1 to 2, without the sign.
constexpr uint32_t from_one_to_two = 4;

/// All lanes of an operation of one or two vectors of type t and maybe a constant.
Value *apply(FunctionEmitter &f, const Sizes &ids, const std::vector<Value *> &args, Type t,
             Value *constant) {
    llvm::IRBuilder<> &b = f.builder();
    const bool is_double = t.bits() == 64;
    const auto call = [&](int size, std::vector<Value *> operands, int lanes) {
        llvm::Type *vector = operands[0]->getType();
        if (constant) {
            operands.push_back(constant);
        }
        operands.push_back(llvm::PoisonValue::get(vector));
        operands.push_back(lanes == 1 ? static_cast<Value *>(b.getInt8(1))
                                      : llvm::ConstantInt::getAllOnesValue(
                                            b.getIntNTy(unsigned(std::max(lanes, 8)))));
        if (size >= 2) {
            operands.push_back(b.getInt32(current_rounding));
        }
        return b.CreateIntrinsic(ids[is_double][size], {}, operands);
    };
    if (t.is_scalar()) {
        llvm::Type *vector = f.type(t.with_lanes(128 / t.bits()));
        std::vector<Value *> operands;
        for (Value *v : args) {
            operands.push_back(
                b.CreateInsertElement(llvm::PoisonValue::get(vector), v, uint64_t(0)));
        }
        if (operands.size() == 1) {
            operands.push_back(operands[0]);  // the first gives the other lanes
        }
        return b.CreateExtractElement(call(3, operands, 1), uint64_t(0));
    }
    const int bits = t.bits() * t.lanes();
    const int size = bits <= 128 ? 0 : bits <= 256 ? 1 : 2;
    const int lanes = (128 << size) / t.bits();
    return f.by_pieces(args, lanes,
                       [&](const std::vector<Value *> &piece) { return call(size, piece, lanes); });
}

}  // namespace

Value *x86_scaled(FunctionEmitter &f, Value *x, Value *n, Type t) {
    return apply(f, scale, {x, n}, t, nullptr);
}

void x86_split_exponent(FunctionEmitter &f, Value *x, Type t, Value **m, Value **e) {
    *m = apply(f, get_mantissa, {x}, t, f.builder().getInt32(from_one_to_two));
    *e = apply(f, get_exponent, {x}, t, nullptr);
}

}  // namespace calotype::internal
