// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/x86/permutations.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsX86.h>

namespace calotype::internal {

namespace {

namespace X = llvm::Intrinsic;

struct Permutation {
    unsigned bits;  ///< of an element
    bool is_float;
    X::ID of_256, of_512;
    Target::Feature feature;
};

constexpr Permutation permutations[] = {
    {8, false, X::x86_avx512_vpermi2var_qi_256, X::x86_avx512_vpermi2var_qi_512,
     Target::AVX512_Cannonlake},
    {16, false, X::x86_avx512_vpermi2var_hi_256, X::x86_avx512_vpermi2var_hi_512,
     Target::AVX512_Skylake},
    {32, false, X::x86_avx512_vpermi2var_d_256, X::x86_avx512_vpermi2var_d_512,
     Target::AVX512_Skylake},
    {32, true, X::x86_avx512_vpermi2var_ps_256, X::x86_avx512_vpermi2var_ps_512,
     Target::AVX512_Skylake},
    {64, false, X::x86_avx512_vpermi2var_q_256, X::x86_avx512_vpermi2var_q_512,
     Target::AVX512_Skylake},
    {64, true, X::x86_avx512_vpermi2var_pd_256, X::x86_avx512_vpermi2var_pd_512,
     Target::AVX512_Skylake},
};

bool is_in_float_registers(const llvm::Type *element) {
    return element->isFloatTy() || element->isDoubleTy();
}

const Permutation *permutation_of(const llvm::Type *element, const Target &target) {
    for (const Permutation &p : permutations) {
        if (p.bits == element->getScalarSizeInBits() &&
            p.is_float == is_in_float_registers(element) && target.has_feature(p.feature)) {
            return &p;
        }
    }
    return nullptr;
}

/// a0 b0 a1 b1 ..., of two vectors whose lanes are all there.
bool is_interleave(const llvm::ShuffleVectorInst &shuffle) {
    const auto *from = llvm::dyn_cast<llvm::FixedVectorType>(shuffle.getOperand(0)->getType());
    const llvm::ArrayRef<int> mask = shuffle.getShuffleMask();
    const int half = from ? int(from->getNumElements()) : 0;
    if (half < 2 || int(mask.size()) != 2 * half ||
        llvm::isa<llvm::Constant>(shuffle.getOperand(0)) ||
        llvm::isa<llvm::Constant>(shuffle.getOperand(1))) {
        return false;
    }
    for (int i = 0; i < 2 * half; i++) {
        if (mask[size_t(i)] != i % 2 * half + i / 2) {
            return false;
        }
    }
    return true;
}

void permute(llvm::ShuffleVectorInst &shuffle, const Permutation &p, bool is_of_512) {
    llvm::IRBuilder<> b(&shuffle);
    llvm::Type *element = shuffle.getType()->getScalarType();
    const unsigned lanes = unsigned(shuffle.getShuffleMask().size());
    llvm::Type *number = b.getIntNTy(p.bits);
    llvm::SmallVector<llvm::Constant *> places;
    llvm::SmallVector<int> lower(lanes, llvm::PoisonMaskElem);
    for (unsigned i = 0; i < lanes; i++) {
        places.push_back(llvm::ConstantInt::get(number, i % 2 * lanes + i / 2));
        lower[i] = i < lanes / 2 ? int(i) : llvm::PoisonMaskElem;
    }
    auto *type = llvm::FixedVectorType::get(p.is_float ? element : number, lanes);
    auto whole = [&](llvm::Value *half) {
        return b.CreateBitCast(b.CreateShuffleVector(half, lower), type);
    };
    llvm::Value *v =
        b.CreateIntrinsic(is_of_512 ? p.of_512 : p.of_256, {},
                          {whole(shuffle.getOperand(0)), llvm::ConstantVector::get(places),
                           whole(shuffle.getOperand(1))});
    shuffle.replaceAllUsesWith(b.CreateBitCast(v, shuffle.getType()));
    shuffle.eraseFromParent();
}

constexpr int register_bytes = 64;

/// A lane of a register of bytes; of none for one that does not count.
struct Place {
    llvm::Value *vector = nullptr;
    int lane = 0;
};

bool is_register_of_bytes(const llvm::Value *v) {
    const auto *type = llvm::dyn_cast<llvm::FixedVectorType>(v->getType());
    return type && type->getElementType()->isIntegerTy(8) &&
           type->getNumElements() == register_bytes;
}

/// Where a lane comes from, through shuffles.
Place place_of(llvm::Value *v, int lane) {
    auto *shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(v);
    if (!shuffle) {
        return {v, lane};
    }
    const int from = shuffle->getMaskValue(unsigned(lane));
    const int size =
        int(llvm::cast<llvm::FixedVectorType>(shuffle->getOperand(0)->getType())->getNumElements());
    return from < 0 ? Place() : place_of(shuffle->getOperand(from >= size), from % size);
}

/// The lower half of a register: lanes of at most two. Null if they are of more, or of other vectors.
llvm::Value *half_of_register(llvm::IRBuilder<> &b, const llvm::ArrayRef<Place> places) {
    std::vector<llvm::Value *> from;
    llvm::SmallVector<int> lanes(register_bytes, llvm::PoisonMaskElem), lower;
    for (size_t i = 0; i < places.size(); i++) {
        lower.push_back(int(i));
        if (!places[i].vector) {
            continue;
        }
        const auto known = std::find(from.begin(), from.end(), places[i].vector);
        lanes[i] = int(known - from.begin()) * register_bytes + places[i].lane;
        if (known == from.end()) {
            from.push_back(places[i].vector);
        }
    }
    if (from.size() != 2 || !std::all_of(from.begin(), from.end(), is_register_of_bytes)) {
        return nullptr;
    }
    return b.CreateShuffleVector(b.CreateShuffleVector(from[0], from[1], lanes), lower);
}

/// The extension of bytes out of three registers by halves; null if it is none.
llvm::Value *extended_by_halves(llvm::CastInst &extension) {
    auto *shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(extension.getOperand(0));
    if (!shuffle || !is_register_of_bytes(shuffle)) {
        return nullptr;
    }
    std::vector<Place> places;
    std::set<llvm::Value *> from;
    for (int i = 0; i < register_bytes; i++) {
        places.push_back(place_of(shuffle, i));
        from.insert(places.back().vector);
    }
    from.erase(nullptr);
    if (from.size() != 3) {
        return nullptr;
    }
    llvm::IRBuilder<> b(&extension);
    const llvm::ArrayRef<Place> all(places);
    llvm::Value *first = half_of_register(b, all.take_front(register_bytes / 2)),
                *second = half_of_register(b, all.take_back(register_bytes / 2));
    if (!first || !second) {
        return nullptr;
    }
    auto *half = llvm::FixedVectorType::getHalfElementsVectorType(
        llvm::cast<llvm::FixedVectorType>(extension.getType()));
    llvm::SmallVector<int> whole(register_bytes);
    std::iota(whole.begin(), whole.end(), 0);
    return b.CreateShuffleVector(b.CreateCast(extension.getOpcode(), first, half),
                                 b.CreateCast(extension.getOpcode(), second, half), whole);
}

bool is_in_upper_half(const Place &place) {
    return place.lane >= register_bytes / 2;
}

/// Whether bytes move one by one: pairs that stay together are moved by shorter instructions.
bool takes_bytes_apart(const llvm::ArrayRef<Place> places) {
    for (size_t i = 0; i + 1 < places.size(); i += 2) {
        const Place &a = places[i], &b = places[i + 1];
        if (a.vector && b.vector && (a.vector != b.vector || a.lane + 1 != b.lane)) {
            return true;
        }
    }
    return false;
}

/// One instruction, for which LLVM has a constant mask taken apart into several where it is regular.
llvm::Value *permuted(llvm::IRBuilder<> &b, llvm::Value *first, llvm::Value *second,
                      const llvm::ArrayRef<int> lanes) {
    llvm::SmallVector<llvm::Constant *> places;
    for (int lane : lanes) {
        places.push_back(b.getInt8(uint8_t(lane)));
    }
    return b.CreateIntrinsic(X::x86_avx512_vpermi2var_qi_512, {},
                             {first, llvm::ConstantVector::get(places), second});
}

/// The vectors that lanes come from, in the order in which they are met.
std::vector<llvm::Value *> sources_of(const llvm::ArrayRef<Place> places) {
    std::vector<llvm::Value *> from;
    for (const Place &place : places) {
        if (place.vector && !llvm::is_contained(from, place.vector)) {
            from.push_back(place.vector);
        }
    }
    return from;
}

/// Each half out of two registers, then both in one. Null if a half is of more or of fewer.
llvm::Value *joined_halves(llvm::IRBuilder<> &b, const llvm::ArrayRef<Place> places) {
    llvm::Value *halves[2];
    for (size_t h = 0; h < 2; h++) {
        const auto half = places.slice(h * register_bytes / 2, register_bytes / 2);
        const std::vector<llvm::Value *> from = sources_of(half);
        if (from.size() != 2) {
            return nullptr;
        }
        llvm::SmallVector<int> lanes(register_bytes, 0);
        for (size_t i = 0; i < half.size(); i++) {
            lanes[i] = half[i].lane + (half[i].vector == from[1] ? register_bytes : 0);
        }
        halves[h] = permuted(b, from[0], from[1], lanes);
    }
    llvm::SmallVector<int> lower_ones(register_bytes);
    for (int i = 0; i < register_bytes; i++) {
        lower_ones[size_t(i)] = i + i / (register_bytes / 2) * (register_bytes / 2);
    }
    return b.CreateShuffleVector(halves[0], halves[1], lower_ones);
}

/// Halves of four registers, as two pairs that are permuted once. Null if more than half of one is taken.
llvm::Value *interleaved_halves(llvm::IRBuilder<> &b, const llvm::ArrayRef<Place> places,
                                const llvm::ArrayRef<llvm::Value *> from) {
    bool upper[4] = {};
    for (size_t f = 0; f < 4; f++) {
        const auto *first =
            llvm::find_if(places, [&](const Place &place) { return place.vector == from[f]; });
        upper[f] = is_in_upper_half(*first);
    }
    llvm::SmallVector<int> lanes(register_bytes, 0);
    for (size_t i = 0; i < places.size(); i++) {
        const auto f = size_t(llvm::find(from, places[i].vector) - from.begin());
        if (f < 4 && is_in_upper_half(places[i]) != upper[f]) {
            return nullptr;
        }
        const int half = register_bytes / 2;
        lanes[i] = f < 4 ? int(f) * half + places[i].lane % half : 0;
    }
    llvm::Value *pairs[2];
    for (size_t p = 0; p < 2; p++) {
        llvm::SmallVector<int> pair;
        for (int i = 0; i < register_bytes; i++) {
            const int second = i / (register_bytes / 2);
            pair.push_back(i % (register_bytes / 2) + second * register_bytes +
                           (upper[2 * p + size_t(second)] ? register_bytes / 2 : 0));
        }
        pairs[p] = b.CreateShuffleVector(from[2 * p], from[2 * p + 1], pair);
    }
    return permuted(b, pairs[0], pairs[1], lanes);
}

/// A register of bytes that are taken out of four; null if it is none.
llvm::Value *permuted_bytes_of_four(llvm::ShuffleVectorInst &shuffle) {
    if (!is_register_of_bytes(&shuffle)) {
        return nullptr;
    }
    std::vector<Place> places;
    for (int i = 0; i < register_bytes; i++) {
        places.push_back(place_of(&shuffle, i));
    }
    const std::vector<llvm::Value *> from = sources_of(places);
    if (from.size() != 4 || !llvm::all_of(from, is_register_of_bytes) ||
        !takes_bytes_apart(places)) {
        return nullptr;
    }
    llvm::IRBuilder<> b(&shuffle);
    llvm::Value *joined = joined_halves(b, places);
    return joined ? joined : interleaved_halves(b, places, from);
}

/// Whether shuffles alone use these bytes, each for fewer of them.
bool are_channels_of_bytes(const llvm::Instruction &bytes) {
    const auto *type = llvm::dyn_cast<llvm::FixedVectorType>(bytes.getType());
    return type && type->getElementType()->isIntegerTy(8) && !bytes.use_empty() &&
           llvm::all_of(bytes.users(), [&](const llvm::User *user) {
               const auto *shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(user);
               return shuffle && shuffle->getShuffleMask().size() < type->getNumElements();
           });
}

}  // namespace

void permute_bytes_of_four(llvm::Module &module, const Target &target) {
    if (!target.has_feature(Target::AVX512_Cannonlake)) {
        return;
    }
    for (llvm::Function &function : module) {
        for (llvm::BasicBlock &block : function) {
            for (llvm::Instruction &i : llvm::make_early_inc_range(llvm::reverse(block))) {
                auto *shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(&i);
                llvm::Value *bytes = shuffle ? permuted_bytes_of_four(*shuffle) : nullptr;
                if (bytes) {
                    shuffle->replaceAllUsesWith(bytes);
                    shuffle->eraseFromParent();
                }
            }
        }
    }
}

void keep_channels_for_permutations(llvm::Module &module, const Target &target) {
    if (!target.has_feature(Target::AVX512_Cannonlake)) {
        return;
    }
    for (llvm::Function &function : module) {
        for (llvm::BasicBlock &block : function) {
            for (llvm::Instruction &i : llvm::make_early_inc_range(block)) {
                if (llvm::isa<llvm::LoadInst>(i) && are_channels_of_bytes(i)) {
                    llvm::IRBuilder<> b(&block, std::next(i.getIterator()));
                    llvm::Value *bytes = b.CreateFreeze(&i);
                    i.replaceUsesWithIf(
                        bytes, [&](const llvm::Use &use) { return use.getUser() != bytes; });
                }
            }
        }
    }
}

void widen_halves_of_channels(llvm::Module &module, const Target &target) {
    if (!target.has_feature(Target::AVX512_Cannonlake)) {
        return;
    }
    for (llvm::Function &function : module) {
        for (llvm::BasicBlock &block : function) {
            for (llvm::Instruction &i : llvm::make_early_inc_range(block)) {
                const bool extends = llvm::isa<llvm::ZExtInst>(i) || llvm::isa<llvm::SExtInst>(i);
                llvm::Value *wide =
                    extends ? extended_by_halves(llvm::cast<llvm::CastInst>(i)) : nullptr;
                if (wide) {
                    i.replaceAllUsesWith(wide);
                    i.eraseFromParent();
                }
            }
        }
    }
}

void interleave_by_permutation(llvm::Module &module, const Target &target) {
    if (!target.has_feature(Target::AVX512_Skylake)) {
        return;
    }
    for (llvm::Function &function : module) {
        for (llvm::BasicBlock &block : function) {
            for (llvm::Instruction &i : llvm::make_early_inc_range(block)) {
                auto *shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(&i);
                if (!shuffle || !is_interleave(*shuffle)) {
                    continue;
                }
                const Permutation *p = permutation_of(shuffle->getType()->getScalarType(), target);
                const uint64_t bits = shuffle->getType()->getPrimitiveSizeInBits();
                if (p && (bits == 256 || bits == 512)) {
                    permute(*shuffle, *p, bits == 512);
                }
            }
        }
    }
}

}  // namespace calotype::internal
