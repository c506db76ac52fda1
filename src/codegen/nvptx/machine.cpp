// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/nvptx/machine.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "codegen/llvm/emitter.h"
#include "codegen/nvptx/address_spaces.h"
#include "codegen/symbol_name.h"
#include "ir/constants.h"
#include "support/error.h"

namespace calotype::internal {

using llvm::Value;

namespace {

constexpr uint64_t storage_alignment = 16;
/// Of large shared storage, which warpgroups may read (lower/gpu/matrix/panel_layout.h).
constexpr uint64_t panel_alignment = 1024, least_panels = 8 * panel_alignment;

/// Memory of the block: one variable an allocation, or the one whose size the launch gives.
Value *shared_storage(FunctionEmitter &f, const Allocate *op, int64_t bytes) {
    llvm::Module &module = f.module().llvm();
    const bool dynamic = bytes == 0;
    const std::string name = dynamic ? "calotype_dynamic_shared" : c_identifier(op->name);
    if (llvm::GlobalVariable *known = module.getGlobalVariable(name); known && dynamic) {
        return known;
    }
    llvm::Type *type = llvm::ArrayType::get(f.builder().getInt8Ty(), uint64_t(bytes));
    auto *variable = new llvm::GlobalVariable(
        module, type, false,
        dynamic ? llvm::GlobalValue::ExternalLinkage : llvm::GlobalValue::InternalLinkage,
        dynamic ? nullptr : llvm::UndefValue::get(type), name, nullptr,
        llvm::GlobalValue::NotThreadLocal, shared_address_space);
    const bool is_large = dynamic || uint64_t(bytes) >= least_panels;
    variable->setAlignment(llvm::Align(is_large ? panel_alignment : storage_alignment));
    return variable;
}

/// 1 / v or 1 / sqrt(v) as the instruction estimates it.
Value *estimate(FunctionEmitter &f, const Call *op) {
    if (op->type.bits() != 32) {
        return nullptr;
    }
    auto id = op->is_intrinsic(Intrinsic::fast_inverse) ? llvm::Intrinsic::nvvm_rcp_approx_ftz_f
                                                        : llvm::Intrinsic::nvvm_rsqrt_approx_f;
    return f.by_lanes({f.emit(op->args[0])}, op->type.lanes(), [&](const std::vector<Value *> &v) {
        return f.builder().CreateIntrinsic(id, {}, {v[0]});
    });
}

Value *emit_dot_product(FunctionEmitter &f, const Call *op, bool has_instruction) {
    llvm::IRBuilder<> &b = f.builder();
    Type a = op->args[0].type(), other = op->args[1].type();
    internal_assert(a.lanes() == 4 && a.bits() == 8 && other.lanes() == 4 && other.bits() == 8)
        << "dot_product_4x8 of types " << to_string(a) << " and " << to_string(other);
    Value *x = b.CreateBitCast(f.emit(op->args[0]), b.getInt32Ty());
    Value *y = b.CreateBitCast(f.emit(op->args[1]), b.getInt32Ty());
    return dot_product_of_bytes(f, {x, a.is_int()}, {y, other.is_int()}, f.emit(op->args[2]),
                                has_instruction);
}

}  // namespace

Value *NvptxMachine::call(FunctionEmitter &f, const Call *op) const {
    switch (op->intrinsic) {
    case Intrinsic::gpu_block_index:
    case Intrinsic::gpu_thread_index:
        return emit_gpu_index(f, op);
    case Intrinsic::gpu_thread_barrier:
        return emit_gpu_barrier(f, op);
    case Intrinsic::gpu_async_copy:
        return emit_async_copy(f, op, at_least(80));
    case Intrinsic::gpu_async_commit:
    case Intrinsic::gpu_async_wait:
        return emit_async_group(f, op, at_least(80));
    case Intrinsic::gpu_tile_copy:
        return emit_tile_copy(f, op);
    case Intrinsic::gpu_arrivals_begin:
    case Intrinsic::gpu_arrivals_end:
        return emit_arrivals_range(f, op);
    case Intrinsic::gpu_arrivals_expect:
        return emit_arrivals_expect(f, op);
    case Intrinsic::gpu_arrivals_wait:
        return emit_arrivals_wait(f, op);
    case Intrinsic::round_to_tf32:
        return emit_round_to_tf32(f, op);
    case Intrinsic::gpu_load_matrix:
        return emit_load_matrix(f, op);
    case Intrinsic::matrix_multiply_add:
        return emit_matrix_multiply_add(f, op);
    case Intrinsic::gpu_warpgroup_fence:
        return emit_warpgroup_fence(f, op);
    case Intrinsic::gpu_warpgroup_multiply_add:
        return emit_warpgroup_multiply_add(f, op);
    case Intrinsic::gpu_warpgroup_wait:
        return emit_warpgroup_wait(f, op);
    case Intrinsic::warp_shuffle:
        return emit_warp_shuffle(f, op);
    case Intrinsic::dot_product_4x8:
        return emit_dot_product(f, op, at_least(61));
    case Intrinsic::fast_inverse:
    case Intrinsic::fast_inverse_sqrt:
        return estimate(f, op);
    case Intrinsic::prefetch:
        // Other warps hide the wait.
        return llvm::Constant::getNullValue(f.type(op->type));
    case Intrinsic::print:
    case Intrinsic::print_when:
    case Intrinsic::trace:
        user_error << op->name << " cannot be called in a kernel for CUDA";
    default:
        return nullptr;
    }
}

Value *NvptxMachine::reduction(FunctionEmitter &f, const VectorReduce *op) const {
    return at_least(61) ? match_dot_product(f, op) : nullptr;
}

Value *NvptxMachine::math(FunctionEmitter &f, Intrinsic id, const std::vector<Value *> &args,
                          Type t) const {
    if (!libdevice_) {
        return nullptr;
    }
    llvm::Type *lt = f.type(t.element_of());
    auto *type = llvm::FunctionType::get(lt, std::vector<llvm::Type *>(args.size(), lt), false);
    std::string name = std::string("__nv_") + intrinsic_info(id).name;
    llvm::Function *callee = f.module().declare(t.bits() == 64 ? name : name + "f", type);
    return f.by_lanes(args, t.lanes(), [&](const std::vector<Value *> &scalars) {
        // Said of the call: what is linked in for the function does not say it, and equal calls
        // would stay apart until they are inlined.
        llvm::CallInst *call = f.builder().CreateCall(type, callee, scalars);
        call->setDoesNotAccessMemory();
        call->setDoesNotThrow();
        call->addFnAttr(llvm::Attribute::WillReturn);
        return call;
    });
}

Value *NvptxMachine::min_or_max(FunctionEmitter &f, Value *a, Value *b, bool is_max) const {
    return f.call_llvm(is_max ? llvm::Intrinsic::maxnum : llvm::Intrinsic::minnum, {a, b});
}

Value *NvptxMachine::storage(FunctionEmitter &f, const Allocate *op) const {
    const int64_t element = int64_t(op->type.bytes()) * op->type.lanes();
    int64_t elements = op->extents.empty() ? 1 : op->constant_size();
    const bool constant = elements > 0;
    int64_t bytes = constant ? elements * element : 0;
    if (op->memory_type == MemoryType::GPUShared || op->memory_type == MemoryType::GPUSharedAsync) {
        return shared_storage(f, op, bytes);
    }
    if (op->new_expr.defined()) {
        return f.emit(op->new_expr);
    }
    user_assert(constant) << "allocation " << op->name
                          << " in a kernel is of one thread, so its size must be constant";
    return f.frame_slot(nullptr, op->name, uint64_t(bytes), int(storage_alignment));
}

// As CUDA's float2, float3, float4 and the like: of two and four elements they are aligned as a
// whole, to at most 16 bytes.
llvm::Type *NvptxMachine::aggregate_type(FunctionEmitter &f, const std::string &function,
                                         Type t) const {
    llvm::LLVMContext &context = f.builder().getContext();
    if (t.is_scalar()) {
        llvm::Type *bits = f.builder().getInt16Ty();
        return llvm::StructType::get(context, llvm::ArrayRef<llvm::Type *>(bits));
    }
    user_assert(t.lanes() <= 4 && !is_small_float(t) && !t.is_bool() && !t.is_handle())
        << "function " << function << " takes or gives " << to_string(t)
        << ", but vectors of CUDA have 2, 3 or 4 numbers, none of them float16 or bfloat16";
    llvm::Type *element = f.type(t.element_of());
    if (t.lanes() == 3) {
        return llvm::ArrayType::get(element, 3);
    }
    if (t.lanes() == 4 && t.bits() == 64) {
        return llvm::ArrayType::get(with_lanes(element, 2), 2);
    }
    return with_lanes(element, t.lanes());
}

bool NvptxMachine::has_arithmetic(const Target &, Type t) const {
    return at_least(t.is_bfloat() ? 90 : 70);
}

}  // namespace calotype::internal
