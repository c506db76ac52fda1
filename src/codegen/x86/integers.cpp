// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/x86/integers.h"

#include <algorithm>
#include <vector>

#include <llvm/IR/IntrinsicsX86.h>

#include "codegen/llvm/emitter.h"
#include "target/registers.h"

namespace calotype::internal {

using llvm::Value;

namespace {

/// What `compute` makes of the parts of the vectors, one register after the other: of 128, 256 or 512 bits, the last
/// of which may be partly filled.
template<typename Compute>
Value *by_registers(FunctionEmitter &f, const std::vector<Value *> &vectors, Compute compute) {
    const auto *type = llvm::cast<llvm::FixedVectorType>(vectors[0]->getType());
    const int lanes = int(type->getNumElements()), bits = int(type->getScalarSizeInBits());
    const int most = std::max(vector_register_bits(f.target(), false), 128) / bits;
    std::vector<Value *> results;
    for (int begin = 0; begin < lanes; begin += most) {
        const int n = std::min(most, lanes - begin);
        int whole = 128 / bits;
        while (whole < n) {
            whole *= 2;
        }
        std::vector<Value *> parts;
        for (Value *v : vectors) {
            parts.push_back(f.slice(f.slice(v, begin, n), 0, whole));
        }
        results.push_back(f.slice(compute(parts, whole * bits), 0, n));
    }
    return f.concat(results);
}

llvm::Intrinsic::ID of_register(int bits, llvm::Intrinsic::ID of128, llvm::Intrinsic::ID of256,
                                llvm::Intrinsic::ID of512) {
    return bits == 128 ? of128 : bits == 256 ? of256 : of512;
}

/// The bits of each byte times a matrix of bits, and a constant.
Value *times_matrix(FunctionEmitter &f, Value *bytes, int bits, uint64_t matrix, uint8_t added) {
    llvm::IRBuilder<> &b = f.builder();
    const auto id = of_register(bits, llvm::Intrinsic::x86_vgf2p8affineqb_128,
                                llvm::Intrinsic::x86_vgf2p8affineqb_256,
                                llvm::Intrinsic::x86_vgf2p8affineqb_512);
    Value *all = llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(unsigned(bits) / 64),
                                                b.getInt64(matrix));
    return b.CreateIntrinsic(id, {},
                             {bytes, b.CreateBitCast(all, bytes->getType()), b.getInt8(added)});
}

}  // namespace

bool x86_counts_zeros(const Target &target, const Call *op) {
    const bool counts =
        op->is_intrinsic({Intrinsic::count_leading_zeros, Intrinsic::count_trailing_zeros});
    return counts && op->type.is_vector() && op->type.bits() == 8 &&
           target.has_feature(Target::AVX512_Zen4);
}

Value *x86_count_zeros(FunctionEmitter &f, const Call *op) {
    constexpr uint64_t reversal = 0x8040201008040201;
    constexpr uint64_t place_of_one = 0xaaccf0ff00000000;  // minus 8
    llvm::IRBuilder<> &b = f.builder();
    return by_registers(f, {f.emit(op->args[0])}, [&](const std::vector<Value *> &parts, int bits) {
        Value *v = op->is_intrinsic(Intrinsic::count_leading_zeros)
                       ? times_matrix(f, parts[0], bits, reversal, 0)
                       : parts[0];
        Value *last_one = b.CreateAnd(v, b.CreateNeg(v));
        return times_matrix(f, last_one, bits, place_of_one, 8);
    });
}

// LLVM knows the pattern of a product that is shifted, but not where another shift has become part of it.
Value *x86_high_product(FunctionEmitter &f, Value *a, Value *b) {
    const auto *type = llvm::dyn_cast<llvm::FixedVectorType>(a->getType());
    if (!type || type->getScalarSizeInBits() != 16 || type->getNumElements() < 4) {
        return nullptr;
    }
    return by_registers(f, {a, b}, [&](const std::vector<Value *> &parts, int bits) {
        const auto id = of_register(bits, llvm::Intrinsic::x86_sse2_pmulhu_w,
                                    llvm::Intrinsic::x86_avx2_pmulhu_w,
                                    llvm::Intrinsic::x86_avx512_pmulhu_w_512);
        return f.builder().CreateIntrinsic(id, {}, parts);
    });
}

}  // namespace calotype::internal
