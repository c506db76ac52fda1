// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/llvm/passes/signed_words.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

namespace calotype::internal {

namespace {

llvm::AttributeList with_signs(llvm::AttributeList list, llvm::FunctionType *type) {
    llvm::LLVMContext &context = type->getContext();
    for (unsigned i = 0; i < type->getNumParams(); i++) {
        if (type->getParamType(i)->isIntegerTy(32)) {
            list = list.addParamAttribute(context, i, llvm::Attribute::SExt);
        }
    }
    return type->getReturnType()->isIntegerTy(32)
               ? list.addRetAttribute(context, llvm::Attribute::SExt)
               : list;
}

}  // namespace

void pass_signed_words(llvm::Module &module) {
    for (llvm::Function &function : module) {
        if (function.isIntrinsic()) {
            continue;
        }
        function.setAttributes(with_signs(function.getAttributes(), function.getFunctionType()));
        for (llvm::Instruction &i : llvm::instructions(function)) {
            auto *call = llvm::dyn_cast<llvm::CallBase>(&i);
            if (call && !llvm::isa<llvm::IntrinsicInst>(call)) {
                call->setAttributes(with_signs(call->getAttributes(), call->getFunctionType()));
            }
        }
    }
}

}  // namespace calotype::internal
