// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/llvm/machine.h"

#include "codegen/arm/machine.h"
#include "codegen/llvm/intrinsics.h"
#include "codegen/riscv/machine.h"
#include "codegen/x86/machine.h"
#include "support/error.h"
#include "support/text.h"

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

LlvmTarget Machine::llvm_target(const Target &target) const {
    internal_error << "code for " << target.to_string() << " is not set up by its target";
}

const Machine &machine_for(const Target &target) {
    std::vector<std::string> names;
#define MACHINE(Arch, width, function)                                                             \
    if (target.arch == Target::Arch && target.bits == (width)) {                                   \
        return function();                                                                         \
    }                                                                                              \
    names.push_back(Target::arch_to_name(Target::Arch) + "-" + std::to_string(width));
#include "target/machines.def"
    user_error << "no code can be generated for target "
               << target.without_implied_features().to_string() << ": the architecture must be "
               << join(names, " or ");
}

// Division goes by way of float32 even where the rest does not: it would not be rounded correctly.
Capabilities capabilities(const Machine &machine, const Target &target) {
    Capabilities can;
    can.has_small_float_operation = [&machine, target](NodeKind kind, Type t) {
        const bool is_general = kind == NodeKind::Div || kind == NodeKind::Mod ||
                                kind == NodeKind::Ramp || kind == NodeKind::VectorReduce;
        return !is_general && machine.has_arithmetic(target, t);
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
