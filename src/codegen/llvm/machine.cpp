// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/llvm/machine.h"

#include "support/error.h"

namespace calotype::internal {

llvm::Value *Machine::math(FunctionEmitter &, Intrinsic, const std::vector<llvm::Value *> &,
                           Type) const {
    return nullptr;
}

llvm::Value *Machine::min_or_max(FunctionEmitter &, llvm::Value *, llvm::Value *, bool) const {
    return nullptr;
}

llvm::Type *Machine::aggregate_type(FunctionEmitter &, const std::string &function, Type t) const {
    user_error << "function " << function << " takes or gives " << to_string(t)
               << ": how C on this machine passes that is known only of LLVM bitcode";
}

llvm::Value *Machine::storage(FunctionEmitter &, const Allocate *) const {
    return nullptr;
}

}  // namespace calotype::internal
