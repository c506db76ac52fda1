// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/llvm/passes/narrow_comparisons.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "codegen/llvm/machine.h"
#include "codegen/llvm/splats.h"
#include "codegen/llvm/types.h"

namespace calotype::internal {

namespace {

using llvm::Value;

constexpr unsigned widest_narrow = 16;  ///< bits of a lane
constexpr unsigned not_known = 64;

/// Saving fewer registers than this is not worth the operations on scalars.
constexpr unsigned least_registers_saved = 2;

/// Lane i is base + offsets[i]. A null base is zero.
struct Lanes {
    Value *base = nullptr;
    std::vector<int64_t> offsets;
};

/// Constants, as integers with or without a sign.
std::optional<std::vector<int64_t>> constants(const Value *v, bool is_signed) {
    const auto *all = llvm::dyn_cast<llvm::Constant>(v);
    const auto *type = llvm::cast<llvm::FixedVectorType>(v->getType());
    std::vector<int64_t> result;
    for (unsigned i = 0; all && i < type->getNumElements(); i++) {
        const auto *lane = llvm::dyn_cast_or_null<llvm::ConstantInt>(all->getAggregateElement(i));
        if (!lane) {
            return std::nullopt;
        }
        result.push_back(is_signed ? lane->getSExtValue() : int64_t(lane->getZExtValue()));
    }
    return all ? std::optional(result) : std::nullopt;
}

/// None where sums may wrap around.
std::optional<Lanes> lanes(Value *v, bool is_signed) {
    const unsigned count = unsigned(lanes_of(v->getType()));
    if (auto offsets = constants(v, is_signed)) {
        return Lanes{nullptr, *offsets};
    }
    if (Value *same = value_of_all(v)) {
        return Lanes{same, std::vector<int64_t>(count)};
    }
    const auto *sum = llvm::dyn_cast<llvm::BinaryOperator>(v);
    Value *base = sum ? value_of_all(sum->getOperand(0)) : nullptr;
    const auto offsets = base ? constants(sum->getOperand(1), is_signed) : std::nullopt;
    const auto *disjoint = llvm::dyn_cast_or_null<llvm::PossiblyDisjointInst>(sum);
    const bool adds = sum && sum->getOpcode() == llvm::Instruction::Add &&
                      (is_signed ? sum->hasNoSignedWrap() : sum->hasNoUnsignedWrap());
    const bool is_known = offsets && (adds || (disjoint && disjoint->isDisjoint()));
    return is_known ? std::optional(Lanes{base, *offsets}) : std::nullopt;
}

/// The widest and the narrowest of what a mask chooses, in bits of a lane.
struct Chosen {
    unsigned narrowest = 64, widest = 0;

    void add(unsigned bits) {
        narrowest = std::min(narrowest, bits);
        widest = std::max(widest, bits);
    }
};

/// What a user of a mask chooses by it; 1 if that is another mask.
unsigned bits_chosen(const llvm::User &user, const Value *mask) {
    const auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&user);
    if (call && call->getIntrinsicID() == llvm::Intrinsic::masked_store) {
        return call->getArgOperand(0)->getType()->getScalarSizeInBits();
    }
    const bool chooses = (llvm::isa<llvm::SelectInst>(user) && user.getOperand(0) == mask) ||
                         llvm::isa<llvm::ZExtInst>(user) || llvm::isa<llvm::SExtInst>(user) ||
                         (call && call->getIntrinsicID() == llvm::Intrinsic::masked_load);
    const bool joins = llvm::isa<llvm::BinaryOperator>(user) || llvm::isa<llvm::SelectInst>(user);
    return chooses || joins ? user.getType()->getScalarSizeInBits() : not_known;
}

void add_chosen(const Value *mask, Chosen &chosen, int depth = 0) {
    constexpr int most_masks_deep = 4;
    for (const llvm::User *user : mask->users()) {
        const unsigned bits = bits_chosen(*user, mask);
        if (bits > 1 || depth == most_masks_deep) {
            chosen.add(bits > 1 ? bits : not_known);
        } else {
            add_chosen(user, chosen, depth + 1);
        }
    }
}

/// Bits of lanes for a comparison with numbers from low to high, which leave room for larger and smaller ones.
unsigned bits_for(int64_t low, int64_t high) {
    for (unsigned bits : {8u, 16u}) {
        if (low > llvm::minIntN(bits) && high < llvm::maxIntN(bits)) {
            return bits;
        }
    }
    return not_known;
}

unsigned registers(unsigned lanes, unsigned bits, unsigned vector_bits) {
    return (lanes * bits + vector_bits - 1) / vector_bits;
}

/// The comparison in narrow lanes: a < b is a.offsets - b.offsets < b.base - a.base.
class Comparison {
public:
    Comparison(llvm::ICmpInst &comparison, unsigned vector_bits)
        : comparison_(comparison), vector_bits_(vector_bits) {
    }

    void make_narrow() {
        const bool is_signed = !comparison_.isUnsigned();
        const auto a = lanes(comparison_.getOperand(0), is_signed),
                   b = a ? lanes(comparison_.getOperand(1), is_signed) : std::nullopt;
        if (!b || (!a->base && !b->base)) {
            return;
        }
        std::vector<int64_t> distances;
        for (size_t i = 0; i < a->offsets.size(); i++) {
            distances.push_back(a->offsets[i] - b->offsets[i]);
        }
        const auto [low, high] = std::minmax_element(distances.begin(), distances.end());
        const unsigned bits = std::max(bits_for(*low, *high), chosen_bits());
        if (*low == *high || bits > widest_narrow || !is_less_work(bits)) {
            return;
        }
        llvm::IRBuilder<> builder(&comparison_);
        const auto widened = [&](Value *v) {
            return v ? builder.CreateIntCast(v, builder.getInt64Ty(), is_signed)
                     : builder.getInt64(0);
        };
        Value *between =
            saturated(builder, builder.CreateSub(widened(b->base), widened(a->base)), bits);
        std::vector<llvm::Constant *> numbers;
        for (const int64_t distance : distances) {
            numbers.push_back(builder.getIntN(bits, uint64_t(distance)));
        }
        Value *narrow =
            builder.CreateICmp(llvm::ICmpInst::getSignedPredicate(comparison_.getPredicate()),
                               llvm::ConstantVector::get(numbers),
                               builder.CreateVectorSplat(unsigned(numbers.size()), between));
        comparison_.replaceAllUsesWith(narrow);
        comparison_.eraseFromParent();
    }

private:
    /// As wide as the narrowest of what is chosen by it.
    unsigned chosen_bits() const {
        Chosen chosen;
        add_chosen(&comparison_, chosen);
        return chosen.widest == 0 || chosen.widest > widest_narrow ? not_known : chosen.narrowest;
    }

    bool is_less_work(unsigned bits) const {
        const llvm::Type *type = comparison_.getOperand(0)->getType();
        const unsigned count = unsigned(lanes_of(type));
        return registers(count, type->getScalarSizeInBits(), vector_bits_) >=
               registers(count, bits, vector_bits_) + least_registers_saved;
    }

    static Value *saturated(llvm::IRBuilder<> &b, Value *v, unsigned bits) {
        const auto limit = [&](int64_t value) {
            return b.getInt64(uint64_t(value));
        };
        v = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, v, limit(llvm::minIntN(bits)));
        v = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, v, limit(llvm::maxIntN(bits)));
        return b.CreateTrunc(v, b.getIntNTy(bits));
    }

    llvm::ICmpInst &comparison_;
    const unsigned vector_bits_;
};

}  // namespace

void compare_lanes_narrowly(llvm::Module &module, const Target &target) {
    const unsigned vector_bits = unsigned(machine_for(target).llvm_target(target).vector_bits);
    for (llvm::Function &function : module) {
        std::vector<llvm::ICmpInst *> comparisons;
        for (llvm::Instruction &i : llvm::instructions(function)) {
            auto *comparison = llvm::dyn_cast<llvm::ICmpInst>(&i);
            const llvm::Type *type = comparison ? comparison->getOperand(0)->getType() : nullptr;
            if (type && llvm::isa<llvm::FixedVectorType>(type) && type->isIntOrIntVectorTy() &&
                type->getScalarSizeInBits() < 64) {
                comparisons.push_back(comparison);
            }
        }
        for (llvm::ICmpInst *comparison : comparisons) {
            Comparison(*comparison, vector_bits).make_narrow();
        }
    }
}

}  // namespace calotype::internal
