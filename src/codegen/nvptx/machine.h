// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NvptxMachine: what NVIDIA's GPUs do in their own way.
#pragma once

#include <llvm/IR/Module.h>

#include "codegen/llvm/machine.h"
#include "codegen/nvptx/address_spaces.h"
#include "codegen/nvptx/capability.h"

namespace calotype::internal {

class NvptxMachine : public Machine {
public:
    /// With `libdevice`, functions of floats become calls of those in the toolkit.
    NvptxMachine(Capability capability, bool libdevice)
        : capability_(capability), libdevice_(libdevice) {
    }

    bool at_least(int sm) const {
        return capability_.sm >= sm;
    }

    Value *call(FunctionEmitter &f, const Call *op) const override;
    Value *reduction(FunctionEmitter &f, const VectorReduce *op) const override;
    Value *math(FunctionEmitter &f, Intrinsic id, const std::vector<Value *> &args,
                Type t) const override;
    Value *min_or_max(FunctionEmitter &f, Value *a, Value *b, bool is_max) const override;
    bool has_minimum_of_numbers() const override {
        return true;
    }
    Value *storage(FunctionEmitter &f, const Allocate *op) const override;
    bool has_arithmetic(const Target &, Type t) const override;
    bool has_fused_multiply_add(const Target &) const override {
        return true;
    }
    bool converts_float16(const Target &) const override {
        return true;
    }
    bool rounds_to_bfloat16() const override {
        return at_least(80);
    }
    bool rounds_to_tf32() const override {
        return at_least(80);
    }
    bool has_scalar_registers() const override {
        return true;
    }
    bool has_narrow_indices() const override {
        return true;
    }
    llvm::Type *aggregate_type(FunctionEmitter &f, const std::string &function,
                               Type t) const override;
    unsigned global_address_space() const override {
        return internal::global_address_space;
    }
    bool preserves_registers() const override {
        return false;
    }
    bool has_c_library() const override {
        return false;
    }

private:
    Capability capability_;
    bool libdevice_;
};

/// @name Instructions (patterns.cpp, async_copy.cpp, tile_copy.cpp, matrix.cpp)
/// @{
llvm::Value *emit_gpu_index(FunctionEmitter &f, const Call *op);
llvm::Value *emit_gpu_barrier(FunctionEmitter &f, const Call *op);
llvm::Value *emit_warp_shuffle(FunctionEmitter &f, const Call *op);
llvm::Value *emit_async_copy(FunctionEmitter &f, const Call *op, bool has_instruction);
llvm::Value *emit_async_group(FunctionEmitter &f, const Call *op, bool has_instruction);
llvm::Value *emit_tile_copy(FunctionEmitter &f, const Call *op);
llvm::Value *emit_arrivals_range(FunctionEmitter &f, const Call *op);
llvm::Value *emit_arrivals_expect(FunctionEmitter &f, const Call *op);
llvm::Value *emit_arrivals_wait(FunctionEmitter &f, const Call *op);
llvm::Value *emit_round_to_tf32(FunctionEmitter &f, const Call *op);
llvm::Value *emit_load_matrix(FunctionEmitter &f, const Call *op);
llvm::Value *emit_matrix_multiply_add(FunctionEmitter &f, const Call *op);
llvm::Value *emit_warpgroup_fence(FunctionEmitter &f, const Call *op);
llvm::Value *emit_warpgroup_multiply_add(FunctionEmitter &f, const Call *op);
llvm::Value *emit_warpgroup_wait(FunctionEmitter &f, const Call *op);

/// PTX that threads carry out together, so that it stays where it is.
llvm::Value *call_asm(FunctionEmitter &f, llvm::Type *result,
                      const std::vector<llvm::Value *> &args, const std::string &code,
                      const std::string &constraints, bool has_effects);
/// The address of an element in shared memory, in 32 bits.
llvm::Value *shared_address(FunctionEmitter &f, const Expr &buffer, Type element,
                            const Expr &index);

/// Four bytes in 32 bits, the first lowest.
struct PackedBytes {
    llvm::Value *bits;
    bool is_signed;
};
/// c + the sum of four products.
llvm::Value *dot_product_of_bytes(FunctionEmitter &f, PackedBytes a, PackedBytes b, llvm::Value *c,
                                  bool has_instruction);
/// Sums of products of bytes by fours.
llvm::Value *match_dot_product(FunctionEmitter &f, const VectorReduce *op);
/// Where such a sum is added to something, it starts from that in the place of zero.
void join_dot_products(llvm::Module &module);
/// @}

}  // namespace calotype::internal
