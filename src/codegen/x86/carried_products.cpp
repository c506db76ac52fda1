// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/x86/carried_products.h"

#include <algorithm>
#include <vector>

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/Transforms/Utils/Local.h>

namespace calotype::internal {

namespace {

/// Cycles that an instruction of a product and a sum takes, and instructions that are begun in one.
constexpr unsigned cycles_of_product = 4, instructions_of_cycle = 4;

/// So many products are one chain within an iteration.
constexpr size_t products_of_chain = 8;

/// An instruction of products and sums, which is called with what it adds to.
bool is_dot_product(const llvm::Value *v) {
    const auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(v);
    switch (call ? call->getIntrinsicID() : llvm::Intrinsic::not_intrinsic) {
    case llvm::Intrinsic::x86_avx512_vpdpbusd_128:
    case llvm::Intrinsic::x86_avx512_vpdpbusd_256:
    case llvm::Intrinsic::x86_avx512_vpdpbusd_512:
    case llvm::Intrinsic::x86_avx512_vpdpwssd_128:
    case llvm::Intrinsic::x86_avx512_vpdpwssd_256:
    case llvm::Intrinsic::x86_avx512_vpdpwssd_512:
        return true;
    default:
        return false;
    }
}

/// Products of 16-bit numbers in 32 bits, or sums of two such, that become one instruction with what they are added to.
bool is_fused(const llvm::Value *v) {
    if (!v->hasOneUse() || v->getType()->getScalarSizeInBits() != 32) {
        return false;
    }
    if (const auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(v)) {
        const llvm::Intrinsic::ID id = call->getIntrinsicID();
        return id == llvm::Intrinsic::x86_sse2_pmadd_wd ||
               id == llvm::Intrinsic::x86_avx2_pmadd_wd ||
               id == llvm::Intrinsic::x86_avx512_pmaddw_d_512;
    }
    const auto *product = llvm::dyn_cast<llvm::BinaryOperator>(v);
    constexpr unsigned above_a_word = 17;
    return product && product->getOpcode() == llvm::Instruction::Mul &&
           llvm::all_of(product->operands(), [&](const llvm::Value *factor) {
               const llvm::DataLayout &layout = product->getModule()->getDataLayout();
               return llvm::ComputeNumSignBits(factor, layout) >= above_a_word;
           });
}

bool is_sum(const llvm::Value *v, const llvm::BasicBlock &block) {
    const auto *op = llvm::dyn_cast<llvm::Instruction>(v);
    return op && op->getParent() == &block &&
           (op->getOpcode() == llvm::Instruction::Add || is_dot_product(op));
}

/// The terms of the sum that a loop of one block carries.
struct CarriedSum {
    llvm::Instruction *last;  ///< what the next iteration begins with
    std::vector<llvm::Value *>
        plain;  ///< terms that take an addition each, without what is carried
    std::vector<llvm::Value *> products;
    std::vector<llvm::Instruction *> dot_products;
    unsigned carried = 0;  ///< how often it is what comes round
    unsigned chain = 0;    ///< products that are added to what comes round one after the other

    /// The number of products that wait for what comes round, which is among the terms of v if that is not none.
    bool collect(llvm::Value *v, const llvm::PHINode &phi) {
        if (v == &phi) {
            carried++;
            return true;
        }
        if (!is_sum(v, *phi.getParent()) || (v != last && !v->hasOneUse())) {
            (is_fused(v) ? products : plain).push_back(v);
            return false;
        }
        auto *sum = llvm::cast<llvm::Instruction>(v);
        if (is_dot_product(sum)) {
            dot_products.push_back(sum);
            const bool waits = collect(sum->getOperand(0), phi);
            chain += waits;
            return waits;
        }
        llvm::Value *a = sum->getOperand(0), *b = sum->getOperand(1);
        const bool a_waits = collect(a, phi), b_waits = collect(b, phi);
        chain += (a_waits && is_fused(b)) || (b_waits && is_fused(a));
        return a_waits || b_waits;
    }
};

unsigned registers_of(const llvm::Type *t, unsigned register_bits) {
    const llvm::TypeSize bits = t->getPrimitiveSizeInBits();
    return std::max(1u, unsigned(bits.getFixedValue()) / register_bits);
}

/// About how many instructions an iteration takes.
unsigned instructions_of(const llvm::BasicBlock &block, unsigned register_bits) {
    unsigned result = 0;
    for (const llvm::Instruction &i : block) {
        const bool is_free =
            llvm::isa<llvm::PHINode, llvm::GetElementPtrInst, llvm::BitCastInst>(i);
        const auto *store = llvm::dyn_cast<llvm::StoreInst>(&i);
        const llvm::Type *t = store ? store->getValueOperand()->getType() : i.getType();
        result += is_free ? 0 : registers_of(t, register_bits);
    }
    return result;
}

/// The sum of all terms, of which what is carried is the last.
void add_carried_last(CarriedSum &sum, llvm::PHINode &phi) {
    llvm::IRBuilder<> b(sum.last);
    llvm::Value *all = nullptr, *chain = nullptr;
    const auto add = [&](llvm::Value *to, llvm::Value *term) {
        return to ? b.CreateAdd(to, term) : term;
    };
    for (llvm::Value *term : sum.plain) {
        chain = add(chain, term);
    }
    size_t products = 0;
    const auto begin_product = [&]() {
        if (products > 0 && products % products_of_chain == 0) {
            all = add(all, chain);
            chain = nullptr;
        }
        products++;
    };
    for (llvm::Value *product : sum.products) {
        begin_product();
        chain = add(chain, product);
    }
    for (llvm::Instruction *call : llvm::reverse(sum.dot_products)) {
        begin_product();
        llvm::Instruction *moved = call->clone();
        moved->setOperand(0, chain ? chain : llvm::Constant::getNullValue(call->getType()));
        chain = b.Insert(moved);
    }
    // What is the last sum is no product: that would be one instruction with what is carried.
    llvm::Value *result = b.CreateAdd(&phi, add(all, chain));
    sum.last->replaceAllUsesWith(result);
    llvm::RecursivelyDeleteTriviallyDeadInstructions(sum.last);
}

void add_carried_last(llvm::BasicBlock &block, unsigned register_bits) {
    std::vector<llvm::PHINode *> found;
    for (llvm::PHINode &phi : block.phis()) {
        const auto *t = llvm::dyn_cast<llvm::FixedVectorType>(phi.getType());
        if (t && t->getElementType()->isIntegerTy(32) && phi.hasOneUse()) {
            found.push_back(&phi);
        }
    }
    const unsigned cycles =
        found.empty() ? 0 : instructions_of(block, register_bits) / instructions_of_cycle;
    for (llvm::PHINode *phi : found) {
        CarriedSum sum{llvm::dyn_cast<llvm::Instruction>(phi->getIncomingValueForBlock(&block))};
        if (sum.last && is_sum(sum.last, block) && sum.collect(sum.last, *phi) &&
            sum.carried == 1 && sum.chain > 1 && sum.chain * cycles_of_product > cycles) {
            add_carried_last(sum, *phi);
        }
    }
}

}  // namespace

void add_products_before_carried(llvm::Module &module, const Target &target) {
    if (!target.features_any_of({Target::AVXVNNI, Target::AVX512_Zen4})) {
        return;
    }
    const unsigned register_bits = 8 * unsigned(target.natural_lanes(8));
    for (llvm::Function &function : module) {
        for (llvm::BasicBlock &block : function) {
            if (llvm::is_contained(llvm::successors(&block), &block)) {
                add_carried_last(block, register_bits);
            }
        }
    }
}

}  // namespace calotype::internal
