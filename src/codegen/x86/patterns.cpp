// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/x86/patterns.h"

#include <llvm/IR/IntrinsicsX86.h>

namespace calotype::internal {

using llvm::Value;

llvm::Value *match_x86_call(FunctionEmitter &, const Call *) {
    return nullptr;
}

llvm::Value *match_x86_reduction(FunctionEmitter &, const VectorReduce *) {
    return nullptr;
}

// The hardware's 12-bit estimate and one step of Newton's method on it.
Value *x86_estimate(FunctionEmitter &f, Value *v, bool square_root) {
    llvm::IRBuilder<> &b = f.builder();
    auto id = square_root ? llvm::Intrinsic::x86_sse_rsqrt_ps : llvm::Intrinsic::x86_sse_rcp_ps;
    Value *y = f.by_pieces({v}, 4, [&](const std::vector<Value *> &piece) {
        return b.CreateIntrinsic(id, {}, {piece[0]});
    });
    auto constant = [&](double x) { return llvm::ConstantFP::get(v->getType(), x); };
    if (square_root) {
        // y * (3 - v * y * y) / 2
        Value *error = b.CreateFSub(constant(3.0), b.CreateFMul(b.CreateFMul(v, y), y));
        return b.CreateFMul(b.CreateFMul(constant(0.5), y), error);
    }
    // y * (2 - v * y)
    return b.CreateFMul(y, b.CreateFSub(constant(2.0), b.CreateFMul(v, y)));
}

}  // namespace calotype::internal
