// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/x86/packing.h"

#include <vector>

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/Support/MathExtras.h>

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

}  // namespace

bool x86_packs(const Target &target, Type from, Type to) {
    const int times = from.bits() / to.bits(), least = times == 2 ? 128 : 256;
    return target.has_feature(Target::SSE41) && !target.has_feature(Target::AVX512) &&
           (times == 2 || times == 4) && from.bits() == times * to.bits() &&
           llvm::isPowerOf2_32(uint32_t(from.lanes())) && from.bits() * from.lanes() >= least;
}

Value *x86_packed(FunctionEmitter &f, Value *v, Type to) {
    const int bits = int(v->getType()->getScalarSizeInBits());
    if (bits == 4 * to.bits()) {
        return x86_packed(f, x86_packed(f, v, Int(16, to.lanes())), to);
    }
    const bool is_wide = f.target().has_feature(Target::AVX2) && bits * to.lanes() >= 512;
    const auto *packing =
        llvm::find_if(packings, [&](const Packing &p) { return p.to == to.element_of(); });
    return halve(f, v, *packing, is_wide ? 256 : 128);
}

}  // namespace calotype::internal
