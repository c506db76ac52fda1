// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/arm/pairwise_sums.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicsAArch64.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

#include <algorithm>
#include <vector>

#include "codegen/arm/registers.h"

namespace calotype::internal {

namespace {

using llvm::Value;

bool is_sum(const Value *v) {
    const auto *op = llvm::dyn_cast<llvm::BinaryOperator>(v);
    return op && op->getOpcode() == llvm::Instruction::Add;
}

/// Whether it is added up in whole registers, and its lanes have halves that are.
bool has_halves(const llvm::Type *type) {
    const auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    const unsigned bits = type->getScalarSizeInBits();
    return vector && type->isIntOrIntVectorTy() && (bits == 16 || bits == 32) &&
           vector->getNumElements() * bits % register_bits == 0;
}

/// A sum of any terms.
class Sum {
public:
    explicit Sum(llvm::BinaryOperator &root) : root_(root) {
        collect(&root);
    }

    void make_pairwise() {
        std::vector<Value *> pairs;
        for (size_t i = 0; i < terms_.size(); i++) {
            Value *whole = halved(terms_[i], false);
            const auto other = std::find_if(terms_.begin(), terms_.end(), [&](Value *term) {
                return whole && halved(term, true) == whole;
            });
            if (other != terms_.end()) {
                pairs.push_back(whole);
                terms_[i] = *other = nullptr;
            }
        }
        if (!pairs.empty()) {
            rebuild(pairs);
        }
    }

private:
    void collect(Value *v) {
        if (is_sum(v) && (v == &root_ || v->hasOneUse())) {
            collect(llvm::cast<llvm::User>(v)->getOperand(0));
            collect(llvm::cast<llvm::User>(v)->getOperand(1));
        } else {
            terms_.push_back(v);
        }
    }

    /// What the term is the upper or lower half of, or null.
    static Value *halved(Value *term, bool is_upper) {
        using namespace llvm::PatternMatch;
        if (!term) {
            return nullptr;
        }
        const unsigned half = term->getType()->getScalarSizeInBits() / 2;
        Value *whole = nullptr;
        const bool matches =
            is_upper
                ? match(term, m_LShr(m_Value(whole), m_SpecificInt(half)))
                : match(term, m_And(m_Value(whole),
                                    m_SpecificInt(llvm::APInt::getLowBitsSet(2 * half, half))));
        return matches ? whole : nullptr;
    }

    static Value *sum_of_halves(llvm::IRBuilder<> &b, Value *whole) {
        auto *type = llvm::cast<llvm::FixedVectorType>(whole->getType());
        const unsigned bits = type->getScalarSizeInBits(), lanes = lanes_of_register(bits);
        llvm::Type *sums = llvm::FixedVectorType::get(type->getElementType(), lanes);
        llvm::Type *halves = llvm::FixedVectorType::get(b.getIntNTy(bits / 2), 2 * lanes);
        std::vector<Value *> parts = by_registers(b, whole);
        for (Value *&part : parts) {
            part = b.CreateIntrinsic(llvm::Intrinsic::aarch64_neon_uaddlp, {sums, halves},
                                     {b.CreateBitCast(part, halves)});
        }
        return llvm::concatenateVectors(b, parts);
    }

    // Constants come last, as what rounds before a shift does.
    void rebuild(const std::vector<Value *> &pairs) {
        llvm::IRBuilder<> b(&root_);
        Value *sum = nullptr;
        const auto add = [&](Value *term) {
            sum = sum ? b.CreateAdd(sum, term) : term;
        };
        for (const bool is_constant : {false, true}) {
            for (Value *term : terms_) {
                if (term && llvm::isa<llvm::Constant>(term) == is_constant) {
                    add(term);
                }
            }
            for (size_t i = 0; i < pairs.size() && !is_constant; i++) {
                add(sum_of_halves(b, pairs[i]));
            }
        }
        root_.replaceAllUsesWith(sum);
    }

    llvm::BinaryOperator &root_;
    std::vector<Value *> terms_;
};

/// Sums that are no term of another one.
std::vector<llvm::BinaryOperator *> whole_sums(llvm::Function &function) {
    std::vector<llvm::BinaryOperator *> sums;
    for (llvm::Instruction &i : llvm::instructions(function)) {
        if (is_sum(&i) && has_halves(i.getType()) && !(i.hasOneUse() && is_sum(i.user_back()))) {
            sums.push_back(llvm::cast<llvm::BinaryOperator>(&i));
        }
    }
    return sums;
}

}  // namespace

void add_halves_in_pairs(llvm::Module &module) {
    for (llvm::Function &function : module) {
        llvm::SmallVector<llvm::WeakTrackingVH> sums;
        for (llvm::BinaryOperator *sum : whole_sums(function)) {
            Sum(*sum).make_pairwise();
            sums.emplace_back(sum);
        }
        llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(sums);
    }
}

}  // namespace calotype::internal
