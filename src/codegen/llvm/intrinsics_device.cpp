// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host's side of device code: the description of its kernels, and launches.
#include "codegen/llvm/device_modules.h"
#include "codegen/llvm/intrinsics.h"
#include "codegen/llvm/runtime_call.h"
#include "support/error.h"

namespace calotype::internal {

using llvm::Value;

namespace {

constexpr size_t shape_begin = 2, shape_values = 7, args_begin = shape_begin + shape_values;

const std::string &text_argument(const Call *op, size_t i) {
    const StringImm *text = op->args.size() > i ? op->args[i].as<StringImm>() : nullptr;
    internal_assert(text) << op->name << " needs a text as argument " << i;
    return text->value;
}

/// The address of an array in the frame that holds the values.
Value *frame_array(FunctionEmitter &f, llvm::Type *element, const std::vector<Value *> &values,
                   const char *name) {
    auto *type = llvm::ArrayType::get(element, values.size());
    Value *array = f.frame_slot(type, name);
    for (size_t i = 0; i < values.size(); i++) {
        f.builder().CreateStore(values[i],
                                f.builder().CreateConstInBoundsGEP2_64(type, array, 0, i));
    }
    return array;
}

void check_arguments(const DeviceKernel &kernel, const Call *op) {
    const size_t given = op->args.size() - args_begin;
    internal_assert(given == kernel.args.size())
        << "kernel " << kernel.name << " has " << kernel.args.size() << " arguments and is given "
        << given;
    for (size_t i = 0; i < given; i++) {
        const KernelArgument &a = kernel.args[i];
        const Type wanted = a.is_buffer ? UInt(64) : a.type;
        const Type t = op->args[args_begin + i].type();
        internal_assert(t.bits() == wanted.bits() && t.is_scalar())
            << "argument " << a.name << " of kernel " << kernel.name << " is " << wanted
            << " and is given " << t;
    }
}

}  // namespace

// gpu_module_descriptor("cuda"): the address of the calotype_module_desc.
Value *emit_gpu_module_descriptor(FunctionEmitter &f, const Call *op) {
    return f.module().device_modules().descriptor(text_argument(op, 0));
}

// gpu_launch(hold, "kernel", 3 x grid, 3 x block, shared bytes, arguments...): an error code. The
// runtime takes an array of the addresses of the arguments' values. gpu_record() has a recording in
// place of the hold.
Value *emit_gpu_launch(FunctionEmitter &f, const Call *op) {
    const KernelReference launched = f.module().device_modules().kernel(text_argument(op, 1));
    internal_assert(op->args.size() >= args_begin) << "gpu_launch without a shape";
    check_arguments(*launched.kernel, op);
    llvm::IRBuilder<> &b = f.builder();
    Value *hold = f.emit(op->args[0]);
    std::vector<Value *> shape, addresses;
    for (size_t i = 0; i < shape_values; i++) {
        shape.push_back(b.CreateIntCast(f.emit(op->args[shape_begin + i]), b.getInt32Ty(), true));
    }
    for (size_t i = args_begin; i < op->args.size(); i++) {
        const Type t = op->args[i].type();
        Value *v = f.emit(op->args[i]);
        if (launched.kernel->args[i - args_begin].is_tile_map) {
            addresses.push_back(v);  // of the value, in the frame
            continue;
        }
        v = t.is_bool() ? b.CreateZExt(v, b.getInt8Ty()) : v;
        Value *slot = f.frame_slot(v->getType(), "argument");
        b.CreateStore(v, slot);
        addresses.push_back(slot);
    }
    Value *args = addresses.empty() ? llvm::ConstantPointerNull::get(b.getPtrTy())
                                    : frame_array(f, b.getPtrTy(), addresses, "arguments");
    const bool recorded = op->is_intrinsic(Intrinsic::gpu_record);
    return call_runtime(f, recorded ? RuntimeFunction::record_kernel : RuntimeFunction::run_kernel,
                        {f.user_context(), hold, b.getInt32(launched.index),
                         frame_array(f, b.getInt32Ty(), shape, "shape"), args});
}

}  // namespace calotype::internal
