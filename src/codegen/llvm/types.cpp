// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/llvm/types.h"

#include "support/error.h"

namespace calotype::internal {

namespace {

llvm::Type *scalar_type(llvm::LLVMContext &context, Type t) {
    if (t.is_handle()) {
        return llvm::PointerType::get(context, 0);
    }
    if (t.is_float() && t.bits() == 32) {
        return llvm::Type::getFloatTy(context);
    }
    if (t.is_float() && t.bits() == 64) {
        return llvm::Type::getDoubleTy(context);
    }
    internal_assert(t.bits() > 0) << "no such type: " << to_string(t);
    return llvm::IntegerType::get(context, t.bits());
}

}  // namespace

llvm::Type *llvm_type(llvm::LLVMContext &context, Type t) {
    return with_lanes(scalar_type(context, t), t.lanes());
}

llvm::Type *llvm_memory_type(llvm::LLVMContext &context, Type t) {
    return llvm_type(context, t.is_bool() ? t.with_bits(8) : t);
}

int lanes_of(const llvm::Type *t) {
    auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(t);
    return vector ? int(vector->getNumElements()) : 1;
}

llvm::Type *with_lanes(llvm::Type *t, int lanes) {
    t = t->getScalarType();
    return lanes == 1 ? t : llvm::FixedVectorType::get(t, unsigned(lanes));
}

}  // namespace calotype::internal
