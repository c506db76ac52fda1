// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/llvm/passes/opaque_choices.h"

#include <algorithm>
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

namespace calotype::internal {

namespace {

bool is_choice_or_quotient(const llvm::Instruction &i) {
    switch (i.getOpcode()) {
    case llvm::Instruction::Select:
    case llvm::Instruction::UDiv:
    case llvm::Instruction::SDiv:
    case llvm::Instruction::URem:
    case llvm::Instruction::SRem:
    case llvm::Instruction::LShr:
    case llvm::Instruction::AShr:
        return true;
    default:
        return llvm::isa<llvm::MinMaxIntrinsic>(i);
    }
}

bool is_used_elsewhere(const llvm::Instruction &i) {
    return std::any_of(i.user_begin(), i.user_end(), [&](const llvm::User *user) {
        return llvm::cast<llvm::Instruction>(user)->getParent() != i.getParent();
    });
}

void freeze(llvm::Instruction *i) {
    llvm::IRBuilder<> b(i->getParent(), std::next(i->getIterator()));
    llvm::Value *frozen = b.CreateFreeze(i);
    i->replaceUsesWithIf(frozen, [&](const llvm::Use &use) { return use.getUser() != frozen; });
}

/// The storage of Funcs has a lifetime; what else is in the frame is written before it is read.
bool is_storage(const llvm::Value *pointer) {
    const auto *slot = llvm::dyn_cast<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer));
    return slot && std::any_of(slot->user_begin(), slot->user_end(), [](const llvm::User *user) {
               return llvm::isa<llvm::LifetimeIntrinsic>(user);
           });
}

bool has_storage(const llvm::Function &function) {
    return !function.empty() &&
           std::any_of(function.getEntryBlock().begin(), function.getEntryBlock().end(),
                       [](const llvm::Instruction &i) {
                           return llvm::isa<llvm::AllocaInst>(i) && is_storage(&i);
                       });
}

/// Where `i` reads: of loads with and without a mask.
const llvm::Value *pointer_read(const llvm::Instruction &i) {
    if (const auto *load = llvm::dyn_cast<llvm::LoadInst>(&i)) {
        return load->getPointerOperand();
    }
    const auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
    return call && call->getIntrinsicID() == llvm::Intrinsic::masked_load ? call->getArgOperand(0)
                                                                          : nullptr;
}

/// The loads of storage whose values the indices of addresses are made of.
std::vector<llvm::Instruction *> storage_read_by_indices(llvm::Function &function) {
    std::vector<llvm::Instruction *> found, open;
    llvm::SmallPtrSet<const llvm::Instruction *, 32> seen;
    const auto push = [&](llvm::Value *v) {
        auto *i = llvm::dyn_cast<llvm::Instruction>(v);
        if (i && !i->getType()->isPtrOrPtrVectorTy() && seen.insert(i).second) {
            open.push_back(i);
        }
    };
    for (llvm::Instruction &i : llvm::instructions(function)) {
        if (auto *address = llvm::dyn_cast<llvm::GetElementPtrInst>(&i)) {
            std::for_each(address->idx_begin(), address->idx_end(), push);
        }
    }
    while (!open.empty()) {
        llvm::Instruction *i = open.back();
        open.pop_back();
        if (const llvm::Value *pointer = pointer_read(*i)) {
            if (is_storage(pointer)) {
                found.push_back(i);
            }
        } else if (!llvm::isa<llvm::CallInst>(i) || llvm::isa<llvm::IntrinsicInst>(i)) {
            std::for_each(i->value_op_begin(), i->value_op_end(), push);
        }
    }
    return found;
}

bool adds(const llvm::Instruction &i) {
    return llvm::isa<llvm::GetElementPtrInst>(i) || i.getOpcode() == llvm::Instruction::Add ||
           i.getOpcode() == llvm::Instruction::Sub || i.getOpcode() == llvm::Instruction::Or;
}

/// Whether an analysis of sums sees what `i` is made of.
bool has_terms(const llvm::Instruction &i) {
    return adds(i) || i.getOpcode() == llvm::Instruction::Mul ||
           i.getOpcode() == llvm::Instruction::Shl || llvm::isa<llvm::SExtInst>(i) ||
           llvm::isa<llvm::ZExtInst>(i) || llvm::isa<llvm::TruncInst>(i);
}

/// Freezes the sums that one loop adds to.
class OpaqueSums {
public:
    OpaqueSums(llvm::Loop &loop, llvm::ScalarEvolution &sums, llvm::DominatorTree &tree)
        : loop_(loop), sums_(sums), before_(tree[loop.getHeader()]->getIDom()->getBlock()) {
    }

    void freeze() {
        for (llvm::BasicBlock *block : loop_.blocks()) {
            for (llvm::Instruction &i : *block) {
                if (adds(i)) {
                    std::for_each(i.op_begin(), i.op_end(), [&](llvm::Use &term) { freeze(term); });
                }
            }
        }
    }

private:
    void freeze(llvm::Use &term) {
        auto *i = llvm::dyn_cast<llvm::Instruction>(term.get());
        if (i && !i->getType()->isVectorTy() && !loop_.contains(i) && has_terms(*i)) {
            llvm::Value *&frozen = frozen_[i];
            frozen = frozen ? frozen : make_frozen(i);
            term.set(frozen);
        }
    }

    llvm::Value *make_frozen(llvm::Instruction *sum) {
        llvm::IRBuilder<> b(before_->getTerminator());
        for (auto &[other, frozen] : distinct_) {
            if (const llvm::ConstantInt *distance = distance_between(other, sum)) {
                return sum->getType()->isPointerTy()
                           ? b.CreateGEP(b.getInt8Ty(), frozen, b.getInt(distance->getValue()))
                           : b.CreateAdd(frozen, b.getInt(distance->getValue()));
            }
        }
        llvm::Value *stepped = step_along(sum);
        llvm::Value *frozen = b.CreateFreeze(stepped ? stepped : sum);
        distinct_.push_back({sum, frozen});
        return frozen;
    }

    /// A sum that grows by the same in each iteration of the loop around, as the first address of a row does, as a
    /// variable of that loop: strength reduction does not see through what is frozen, and would leave a product. Null
    /// for others.
    llvm::Value *step_along(llvm::Instruction *sum) {
        const llvm::Loop *around = loop_.getParentLoop();
        const auto *rows = llvm::dyn_cast<llvm::SCEVAddRecExpr>(sums_.getSCEV(sum));
        if (!rows || rows->getLoop() != around || !rows->isAffine()) {
            return nullptr;
        }
        llvm::BasicBlock *before = around->getLoopPredecessor(), *latch = around->getLoopLatch();
        if (!before || !latch) {
            return nullptr;
        }
        const llvm::SCEV *start = rows->getStart(), *step = rows->getStepRecurrence(sums_);
        llvm::Instruction *entry = before->getTerminator();
        llvm::SCEVExpander expander(sums_, loop_.getHeader()->getDataLayout(), "row");
        if (llvm::isa<llvm::SCEVConstant>(step) || !expander.isSafeToExpandAt(start, entry) ||
            !expander.isSafeToExpandAt(step, entry) || is_costly(start, around, expander)) {
            return nullptr;
        }
        llvm::Value *first = expander.expandCodeFor(start, sum->getType(), entry);
        llvm::Value *distance = expander.expandCodeFor(step, step->getType(), entry);
        llvm::IRBuilder<> head(around->getHeader(), around->getHeader()->begin());
        llvm::PHINode *row = head.CreatePHI(sum->getType(), 2);
        llvm::IRBuilder<> end(latch->getTerminator());
        llvm::Value *next = sum->getType()->isPointerTy() ? end.CreatePtrAdd(row, distance)
                                                          : end.CreateAdd(row, distance);
        row->addIncoming(first, before);
        row->addIncoming(next, latch);
        return row;
    }

    /// Whether to begin with `start` takes more than it saves: the loop around may run a few times for each iteration of
    /// one around it, as one over the rows of a kernel does.
    static bool is_costly(const llvm::SCEV *start, const llvm::Loop *around,
                          llvm::SCEVExpander &expander) {
        const llvm::BasicBlock *before = around->getLoopPredecessor();
        const llvm::TargetTransformInfo costs(before->getDataLayout());
        return around->getParentLoop() &&
               expander.isHighCostExpansion(start, around->getParentLoop(), 1, &costs,
                                            before->getTerminator());
    }

    const llvm::ConstantInt *distance_between(llvm::Instruction *from, llvm::Instruction *to) {
        if (from->getType() != to->getType()) {
            return nullptr;
        }
        const llvm::SCEV *distance = sums_.getMinusSCEV(sums_.getSCEV(to), sums_.getSCEV(from));
        const auto *constant = llvm::dyn_cast<llvm::SCEVConstant>(distance);
        return constant ? constant->getValue() : nullptr;
    }

    llvm::Loop &loop_;
    llvm::ScalarEvolution &sums_;
    llvm::BasicBlock *before_;
    llvm::DenseMap<llvm::Instruction *, llvm::Value *> frozen_;
    std::vector<std::pair<llvm::Instruction *, llvm::Value *>> distinct_;
};

}  // namespace

void decide_indices(llvm::Module &module) {
    for (llvm::Function &function : module) {
        if (has_storage(function)) {
            const auto found = storage_read_by_indices(function);
            std::for_each(found.begin(), found.end(), freeze);
        }
    }
}

void make_choices_opaque(llvm::Module &module) {
    for (llvm::Function &function : module) {
        std::vector<llvm::Instruction *> found;
        for (llvm::Instruction &i : llvm::instructions(function)) {
            if (i.getType()->isIntegerTy() && !i.getType()->isIntegerTy(1) &&
                is_choice_or_quotient(i) && is_used_elsewhere(i)) {
                found.push_back(&i);
            }
        }
        std::for_each(found.begin(), found.end(), freeze);
    }
}

void make_sums_opaque(llvm::Module &module) {
    const llvm::TargetLibraryInfoImpl known(llvm::Triple(module.getTargetTriple()));
    llvm::TargetLibraryInfo library(known);
    for (llvm::Function &function : module) {
        if (function.empty()) {
            continue;
        }
        llvm::DominatorTree tree(function);
        llvm::LoopInfo loops(tree);
        llvm::AssumptionCache assumptions(function);
        llvm::ScalarEvolution sums(function, library, assumptions, tree, loops);
        for (llvm::Loop *loop : loops.getLoopsInPreorder()) {
            if (loop->isInnermost()) {
                OpaqueSums(*loop, sums, tree).freeze();
            }
        }
    }
}

}  // namespace calotype::internal
