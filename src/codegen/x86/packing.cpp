// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/x86/packing.h"

#include <vector>

#include <llvm/IR/IntrinsicsX86.h>

namespace calotype::internal {

namespace {

using llvm::Value;
namespace X = llvm::Intrinsic;

struct Packing {
    Type to;
    X::ID of_128, of_256;
};

const Packing packings[] = {
    {UInt(8), X::x86_sse2_packuswb_128, X::x86_avx2_packuswb},
    {Int(8), X::x86_sse2_packsswb_128, X::x86_avx2_packsswb},
    {UInt(16), X::x86_sse41_packusdw, X::x86_avx2_packusdw},
    {Int(16), X::x86_sse2_packssdw_128, X::x86_avx2_packssdw},
};

/// To half the bits, of registers of `register_bits`.
Value *halve(FunctionEmitter &f, Value *v, const Packing &packing, int register_bits) {
    llvm::IRBuilder<> &b = f.builder();
    const int lanes = int(llvm::cast<llvm::FixedVectorType>(v->getType())->getNumElements());
    const int of_register = register_bits / (2 * packing.to.bits());
    if (lanes == of_register) {  // only 128 bits
        return f.slice(b.CreateIntrinsic(packing.of_128, {}, {v, v}), 0, lanes);
    }
    std::vector<Value *> parts;
    for (int begin = 0; begin < lanes; begin += 2 * of_register) {
        Value *low = f.slice(v, begin, of_register);
        Value *high = f.slice(v, begin + of_register, of_register);
        const bool is_wide = register_bits == 256;
        Value *part = b.CreateIntrinsic(is_wide ? packing.of_256 : packing.of_128, {}, {low, high});
        if (is_wide) {  // which packs the halves of registers
            llvm::Type *type = part->getType();
            part = b.CreateBitCast(part, f.type(UInt(64, 4)));
            part = b.CreateBitCast(b.CreateShuffleVector(part, {0, 2, 1, 3}), type);
        }
        parts.push_back(part);
    }
    return f.concat(parts);
}

bool is_power_of_two(int n) {
    return (n & (n - 1)) == 0;
}

}  // namespace

Value *x86_packed(FunctionEmitter &f, Value *v, Type to) {
    const auto *type = llvm::cast<llvm::FixedVectorType>(v->getType());
    const int bits = int(type->getScalarSizeInBits()), lanes = int(type->getNumElements());
    if (!f.target().has_feature(Target::SSE41) || f.target().has_feature(Target::AVX512) ||
        !is_power_of_two(lanes) || bits * lanes < 128) {
        return nullptr;
    }
    if (bits == 4 * to.bits()) {
        return bits * lanes < 256 ? nullptr : x86_packed(f, x86_packed(f, v, Int(16, lanes)), to);
    }
    const bool is_wide = f.target().has_feature(Target::AVX2) && bits * lanes >= 512;
    for (const Packing &packing : packings) {
        if (packing.to == to.element_of() && bits == 2 * to.bits()) {
            return halve(f, v, packing, is_wide ? 256 : 128);
        }
    }
    return nullptr;
}

}  // namespace calotype::internal
