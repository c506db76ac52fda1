// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/llvm/machine.h"

#include "codegen/x86/patterns.h"

namespace calotype::internal {

namespace {

class X86Machine : public Machine {
public:
    Value *call(FunctionEmitter &f, const Call *op) const override {
        const bool square_root = op->is_intrinsic(Intrinsic::fast_inverse_sqrt);
        const bool inverse = square_root || op->is_intrinsic(Intrinsic::fast_inverse);
        if (inverse && op->type.bits() == 32 && op->type.is_vector() &&
            f.target().has_feature(Target::SSE41)) {
            return x86_estimate(f, f.emit(op->args[0]), square_root);
        }
        return match_x86_call(f, op);
    }
    Value *sum(FunctionEmitter &f, const Add *op) const override {
        return match_x86_sum(f, op);
    }
    Value *reduction(FunctionEmitter &f, const VectorReduce *op) const override {
        return match_x86_reduction(f, op);
    }
};

}  // namespace

const Machine &host_machine() {
    static const X86Machine machine;
    return machine;
}

}  // namespace calotype::internal
