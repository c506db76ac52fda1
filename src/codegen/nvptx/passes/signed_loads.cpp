// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/nvptx/passes/signed_loads.h"

#include <algorithm>
#include <string>
#include <vector>

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>

#include "codegen/nvptx/address_spaces.h"

namespace calotype::internal {

bool reads_unwritten_argument(const llvm::LoadInst &load) {
    const auto *argument =
        llvm::dyn_cast<llvm::Argument>(llvm::getUnderlyingObject(load.getPointerOperand()));
    return argument && argument->onlyReadsMemory() && argument->hasNoAliasAttr();
}

namespace {

/// Memory that nothing writes while the kernel runs: LLVM reads it through the read-only cache.
bool is_read_only(const llvm::LoadInst &load) {
    return load.getPointerAddressSpace() == global_address_space &&
           (load.hasMetadata(llvm::LLVMContext::MD_invariant_load) ||
            reads_unwritten_argument(load));
}

/// One that gets more bits, and the value of a signed number, or is a float.
bool wants_sign(const llvm::User *user) {
    return llvm::isa<llvm::SExtInst>(user) || llvm::isa<llvm::SIToFPInst>(user);
}

bool is_extended(const llvm::LoadInst &load) {
    return (load.getType()->isIntegerTy(8) || load.getType()->isIntegerTy(16)) && load.isSimple() &&
           !load.use_empty() && std::all_of(load.user_begin(), load.user_end(), wants_sign) &&
           is_read_only(load);
}

/// The load, of 32 bits.
llvm::Value *extended(llvm::IRBuilder<> &b, llvm::LoadInst &load) {
    const llvm::DataLayout &layout = load.getModule()->getDataLayout();
    llvm::Value *from = load.getPointerOperand();
    llvm::APInt offset(layout.getIndexTypeSizeInBits(from->getType()), 0);
    llvm::Value *base =
        from->stripAndAccumulateConstantOffsets(layout, offset, /* AllowNonInbounds */ true);
    if (base->getType() != from->getType()) {
        base = from;
        offset = 0;
    }
    const std::string bits = std::to_string(load.getType()->getIntegerBitWidth());
    auto *type = llvm::FunctionType::get(b.getInt32Ty(), {base->getType(), b.getInt64Ty()}, false);
    // Without memory among what it changes it is arithmetic to passes on machine code, which move it out of loops
    // and in front of the conditions there.
    llvm::InlineAsm *code = llvm::InlineAsm::get(type, "ld.global.nc.s" + bits + " $0, [$1+$2];",
                                                 "=r,l,n,~{memory}", false);
    llvm::CallInst *call = b.CreateCall(code, {base, b.getInt64(offset.getZExtValue())});
    call->setOnlyReadsMemory();
    call->setDoesNotThrow();
    return call;
}

void replace(llvm::LoadInst &load) {
    llvm::IRBuilder<> b(&load);
    llvm::Value *value = extended(b, load);
    for (llvm::User *user : llvm::make_early_inc_range(load.users())) {
        auto *use = llvm::cast<llvm::Instruction>(user);
        b.SetInsertPoint(use);
        llvm::Value *same = llvm::isa<llvm::SIToFPInst>(use)
                                ? b.CreateSIToFP(value, use->getType())
                                : b.CreateSExtOrTrunc(value, use->getType());
        use->replaceAllUsesWith(same);
        use->eraseFromParent();
    }
    load.eraseFromParent();
}

}  // namespace

void extend_signs_in_loads(llvm::Module &module) {
    std::vector<llvm::LoadInst *> loads;
    for (llvm::Function &f : module) {
        for (llvm::Instruction &i : llvm::instructions(f)) {
            if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&i); load && is_extended(*load)) {
                loads.push_back(load);
            }
        }
    }
    for (llvm::LoadInst *load : loads) {
        replace(*load);
    }
}

}  // namespace calotype::internal
