// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies from device memory into shared memory. From sm_80 on they go on beside the thread's work;
// below, each is a load and a store, and there is nothing to wait for.
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "codegen/llvm/emitter.h"
#include "codegen/nvptx/address_spaces.h"
#include "codegen/nvptx/machine.h"
#include "ir/constants.h"
#include "support/error.h"

namespace calotype::internal {

using llvm::Value;
namespace N = llvm::Intrinsic;

namespace {

Value *element_address(FunctionEmitter &f, const Call *op, size_t buffer) {
    const Variable *name = op->args[buffer].as<Variable>();
    internal_assert(name) << op->name << " of something that is not a buffer";
    return f.element_pointer(name->name, op->type, op->args[buffer + 1]);
}

void plain_copy(FunctionEmitter &f, Value *to, Value *from, int bytes) {
    llvm::IRBuilder<> &b = f.builder();
    llvm::Type *t = with_lanes(b.getInt32Ty(), bytes / 4);
    llvm::Align align{uint64_t(bytes)};
    b.CreateAlignedStore(b.CreateAlignedLoad(t, from, align), to, align);
}

}  // namespace

// gpu_async_copy(to, i, from, j, n)
Value *emit_async_copy(FunctionEmitter &f, const Call *op, bool has_instruction) {
    auto count = as_const_int(op->args.at(4));
    internal_assert(count) << op->name << " of a number of elements that is not constant";
    int bytes = int(*count) * op->type.bytes();
    internal_assert(bytes == 4 || bytes == 8 || bytes == 16)
        << op->name << " of " << bytes << " bytes";
    Value *to = element_address(f, op, 0), *from = element_address(f, op, 2);
    const bool fits = to->getType()->getPointerAddressSpace() == shared_address_space &&
                      from->getType()->getPointerAddressSpace() == global_address_space;
    if (has_instruction && fits) {
        // Sixteen bytes go past the first-level cache.
        auto id = bytes == 16  ? N::nvvm_cp_async_cg_shared_global_16
                  : bytes == 8 ? N::nvvm_cp_async_ca_shared_global_8
                               : N::nvvm_cp_async_ca_shared_global_4;
        f.builder().CreateIntrinsic(id, {}, {to, from});
    } else {
        plain_copy(f, to, from, bytes);
    }
    return llvm::Constant::getNullValue(f.type(op->type));
}

Value *emit_async_group(FunctionEmitter &f, const Call *op, bool has_instruction) {
    llvm::IRBuilder<> &b = f.builder();
    if (has_instruction && op->is_intrinsic(Intrinsic::gpu_async_commit)) {
        b.CreateIntrinsic(N::nvvm_cp_async_commit_group, {}, {});
    } else if (has_instruction) {
        auto groups = as_const_int(op->args.at(0));
        internal_assert(groups) << op->name << " of a number of groups that is not constant";
        b.CreateIntrinsic(N::nvvm_cp_async_wait_group, {}, {b.getInt32(uint32_t(*groups))});
    }
    return llvm::Constant::getNullValue(f.type(op->type));
}

}  // namespace calotype::internal
