// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How late a value is there is counted in operations of its block, from what is there when the block
// begins. Loads count as nothing: they can be begun early. What comes round a loop is later than all
// that the iteration computes by itself.
#include "codegen/llvm/passes/product_order.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>
#include <llvm/Transforms/Utils/Local.h>

namespace calotype::internal {

namespace {

constexpr int of_loop = 1 << 16;
/// What an iteration before stored comes round the loop as well, and is there before what it has computed last.
constexpr int of_memory = 1 << 15;

/// What the block stores to.
class StoredObjects {
public:
    StoredObjects() = default;
    explicit StoredObjects(const llvm::BasicBlock &block) {
        for (const llvm::Instruction &i : block) {
            if (const auto *store = llvm::dyn_cast<llvm::StoreInst>(&i)) {
                objects_.insert(llvm::getUnderlyingObject(store->getPointerOperand()));
            }
        }
    }
    bool may_be_read_by(const llvm::Instruction &i) const {
        const auto *load = llvm::dyn_cast<llvm::LoadInst>(&i);
        return load && objects_.count(llvm::getUnderlyingObject(load->getPointerOperand())) > 0;
    }

private:
    llvm::SmallPtrSet<const llvm::Value *, 4> objects_;
};

class BlockDepths {
public:
    BlockDepths() = default;
    explicit BlockDepths(StoredObjects stored) : stored_(std::move(stored)) {
    }

    /// Depths are asked of instructions in their order.
    int of(const llvm::Value *v, const llvm::BasicBlock &block) const {
        const auto *i = llvm::dyn_cast<llvm::Instruction>(v);
        const auto known = i && i->getParent() == &block ? depth_.find(i) : depth_.end();
        return known == depth_.end() ? 0 : known->second;
    }

    void add(const llvm::Instruction &i, const llvm::BasicBlock &block) {
        if (const auto *phi = llvm::dyn_cast<llvm::PHINode>(&i)) {
            depth_[&i] = phi->getBasicBlockIndex(&block) >= 0 ? of_loop : 0;
            return;
        }
        int depth = stored_.may_be_read_by(i) ? of_memory : 0;
        if (!i.mayReadFromMemory()) {
            for (const llvm::Value *operand : i.operands()) {
                depth = std::max(depth, of(operand, block));
            }
            depth += i.getType()->isFPOrFPVectorTy();
        }
        depth_[&i] = depth;
    }

private:
    const StoredObjects stored_;
    llvm::DenseMap<const llvm::Instruction *, int> depth_;
};

bool is_contractable_product(const llvm::Value *v) {
    const auto *product = llvm::dyn_cast<llvm::BinaryOperator>(v);
    return product && product->getOpcode() == llvm::Instruction::FMul && product->hasOneUse() &&
           product->hasAllowContract();
}

void order_products(llvm::BasicBlock &block) {
    BlockDepths depths;
    for (llvm::Instruction &i : block) {
        depths.add(i, block);
        if (i.getOpcode() == llvm::Instruction::FAdd && i.hasAllowContract() &&
            is_contractable_product(i.getOperand(0)) && is_contractable_product(i.getOperand(1)) &&
            depths.of(i.getOperand(1), block) > depths.of(i.getOperand(0), block)) {
            i.getOperandUse(0).swap(i.getOperandUse(1));
        }
    }
}

struct Term {
    llvm::Value *value;
    bool is_subtracted;
    int depth;
};

bool is_sum(const llvm::Value *v) {
    const auto *op = llvm::dyn_cast<llvm::BinaryOperator>(v);
    return op && op->hasAllowReassoc() &&
           (op->getOpcode() == llvm::Instruction::FAdd ||
            op->getOpcode() == llvm::Instruction::FSub);
}

/// The terms of a sum within its block, in their order. What is needed elsewhere as well is one term.
void collect_terms(const llvm::Instruction &sum, bool is_subtracted, const BlockDepths &depths,
                   std::vector<Term> *terms) {
    for (unsigned i = 0; i < 2; i++) {
        llvm::Value *v = sum.getOperand(i);
        const bool changes_sign = i == 1 && sum.getOpcode() == llvm::Instruction::FSub;
        const auto *part = is_sum(v) ? llvm::cast<llvm::Instruction>(v) : nullptr;
        if (part && part->hasOneUse() && part->getParent() == sum.getParent()) {
            collect_terms(*part, is_subtracted != changes_sign, depths, terms);
        } else {
            terms->push_back({v, is_subtracted != changes_sign, depths.of(v, *sum.getParent())});
        }
    }
}

/// A sum that is no part of another one, with what makes it round the loop.
bool is_whole_sum(const llvm::Instruction &i) {
    return is_sum(&i) &&
           !(i.hasOneUse() && is_sum(*i.user_begin()) &&
             llvm::cast<llvm::Instruction>(*i.user_begin())->getParent() == i.getParent());
}

/// Whether the sum takes no more operations with this term at its end: a product goes into a fused multiply-add there, and
/// another term has to be there in its place at the beginning.
bool may_end_with(const Term &last, const std::vector<Term> &terms) {
    const auto is_plain = [](const Term &t) {
        return !is_contractable_product(t.value);
    };
    return !is_plain(last) || std::count_if(terms.begin(), terms.end(), is_plain) > 1;
}

/// The terms in the order in which they are there, the first of them added; empty if the last one is the last already.
std::vector<Term> in_order_of_time(const llvm::Instruction &sum, const std::vector<Term> &terms) {
    const auto is_late = [](const Term &t) {
        return t.depth >= of_memory;
    };
    std::vector<Term> ordered = terms;
    std::stable_sort(ordered.begin(), ordered.end(), [&](const Term &a, const Term &b) {
        return (is_late(a) ? a.depth : 0) < (is_late(b) ? b.depth : 0);
    });
    const auto first = std::find_if(ordered.begin(), ordered.end(),
                                    [&](const Term &t) { return !t.is_subtracted && !is_late(t); });
    const bool helps = terms.size() > 2 && is_late(ordered.back()) && first != ordered.end() &&
                       !llvm::is_contained(sum.operands(), ordered.back().value) &&
                       may_end_with(ordered.back(), terms);
    if (!helps) {
        return {};
    }
    std::rotate(ordered.begin(), first, first + 1);
    return ordered;
}

/// The sum of the terms, one after the other, in the place of the one that there is.
void add_in_order(llvm::Instruction &sum, const std::vector<Term> &terms) {
    llvm::IRBuilder<> b(&sum);
    b.setFastMathFlags(sum.getFastMathFlags());
    llvm::Value *result = terms[0].value;
    for (size_t i = 1; i < terms.size(); i++) {
        llvm::Value *term = terms[i].value;
        result = terms[i].is_subtracted ? b.CreateFSub(result, term) : b.CreateFAdd(result, term);
    }
    sum.replaceAllUsesWith(result);
    llvm::RecursivelyDeleteTriviallyDeadInstructions(&sum);
}

void order_terms(llvm::BasicBlock &block) {
    if (!llvm::is_contained(llvm::successors(&block), &block)) {
        return;
    }
    const StoredObjects stored(block);
    BlockDepths depths(stored);
    std::vector<llvm::Instruction *> sums;
    for (llvm::Instruction &i : block) {
        depths.add(i, block);
        if (is_whole_sum(i)) {
            sums.push_back(&i);
        }
    }
    for (llvm::Instruction *sum : sums) {
        std::vector<Term> terms;
        collect_terms(*sum, false, depths, &terms);
        const std::vector<Term> ordered = in_order_of_time(*sum, terms);
        if (!ordered.empty()) {
            add_in_order(*sum, ordered);
        }
    }
}

}  // namespace

void add_late_terms_last(llvm::Module &module) {
    for (llvm::Function &function : module) {
        for (llvm::BasicBlock &block : function) {
            order_terms(block);
        }
    }
}

void put_late_products_first(llvm::Module &module) {
    for (llvm::Function &function : module) {
        for (llvm::BasicBlock &block : function) {
            order_products(block);
        }
    }
}

}  // namespace calotype::internal
