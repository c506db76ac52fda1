// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/llvm/machine.h"

#include "codegen/llvm/intrinsics.h"
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

// Division goes by way of float32 even where the rest does not: it would not be rounded correctly.
Capabilities capabilities(const Machine &machine) {
    Capabilities can;
    can.has_small_float_operation = [&machine](NodeKind kind, Type t) {
        const bool is_general = kind == NodeKind::Div || kind == NodeKind::Mod ||
                                kind == NodeKind::Ramp || kind == NodeKind::VectorReduce;
        return !is_general && machine.has_arithmetic(t);
    };
    can.has_intrinsic = [&machine](const Call *op) {
        return has_emission(op) ||
               (machine.rounds_to_tf32() && op->is_intrinsic(Intrinsic::round_to_tf32));
    };
    return can;
}

llvm::Value *Machine::storage(FunctionEmitter &, const Allocate *) const {
    return nullptr;
}

}  // namespace calotype::internal
