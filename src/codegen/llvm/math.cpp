// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transcendental functions.
#include "codegen/llvm/emitter.h"
#include "ir/intrinsics.h"

namespace calotype::internal {

using llvm::Value;

Value *FunctionEmitter::emit_math(Intrinsic id, const std::vector<Value *> &args, Type t) {
    std::string name = intrinsic_info(id).name;
    if (t.bits() == 32) {
        name += 'f';
    }
    llvm::Type *scalar = type(t.element_of());
    return by_lanes(args, t.lanes(), [&](const std::vector<Value *> &scalars) {
        return call_runtime(name, scalar, scalars);
    });
}

}  // namespace calotype::internal
