// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels are functions without a result whose buffers are pointers to device memory. Facts that
// LLVM and the assembler profit from are said: buffers do not overlap, which are only read (their
// loads go through the read-only cache), how many threads a block has.
#include "codegen/nvptx/kernels.h"

#include <algorithm>
#include <set>

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "codegen/llvm/emitter.h"
#include "codegen/llvm/passes/constant_divisors.h"
#include "codegen/llvm/passes/product_order.h"
#include "codegen/nvptx/address_spaces.h"
#include "codegen/nvptx/libdevice.h"
#include "codegen/nvptx/machine.h"
#include "codegen/nvptx/passes/signed_loads.h"
#include "codegen/nvptx/passes/wide_products.h"
#include "codegen/nvptx/ptx.h"
#include "codegen/symbol_name.h"
#include "ir/conventions/kernels.h"
#include "ir/queries.h"
#include "legalize/legalize.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

/// The target as the emitter is to see it: of the host's features those that are about the program.
Target device_target(const Target &host) {
    Target device(Target::Linux, Target::ArchUnknown, 64);
    for (auto feature : {Target::StrictFloat, Target::LargeBuffers, Target::NoAsserts}) {
        device.set_feature(feature, host.has_feature(feature));
    }
    return device;
}

class DeviceModuleEmitter {
public:
    DeviceModuleEmitter(const DeviceModule &source, const Target &target, const Machine &machine,
                        llvm::LLVMContext &context)
        : source_(source), machine_(machine), target_(device_target(target)), context_(context) {
        frame_.name = source.name;
        frame_.any_strict_float = target.has_feature(Target::StrictFloat);
        frame_.linked.functions = source.linked.functions;
        emitter_ = std::make_unique<ModuleEmitter>(frame_, target_, no_code_, context);
    }

    llvm::Module &module() {
        return emitter_->llvm();
    }

    void emit(const DeviceBitcode &bitcode) {
        emitter_->link_linkables(bitcode.images, bitcode.wanted);
        std::vector<std::string> symbols = kernel_symbols(source_);
        for (size_t i = 0; i < symbols.size(); i++) {
            emit_kernel(source_.kernels[i], symbols[i]);
        }
        emitter_->drop_unused_bitcode(bitcode.wanted);
        std::string problem;
        llvm::raw_string_ostream stream(problem);
        internal_assert(!llvm::verifyModule(module(), &stream))
            << "invalid LLVM module: " << problem;
    }

private:
    llvm::Type *argument_type(const KernelArgument &a) {
        return a.is_tile_map ? llvm::PointerType::get(context_, 0)
               : a.is_buffer ? llvm::PointerType::get(context_, global_address_space)
                             : llvm_memory_type(context_, a.type);
    }

    llvm::Function *declare(const DeviceKernel &kernel, const std::string &symbol) {
        user_assert(!module().getNamedValue(symbol))
            << "kernel " << kernel.name << " has the name of function " << symbol
            << emitter_->origin_of(symbol);
        std::vector<llvm::Type *> types;
        for (const KernelArgument &a : kernel.args) {
            user_assert(a.memory != MemoryType::GPUTexture)
                << "buffer " << a.name << " of kernel " << kernel.name
                << " is in texture memory, which code for CUDA does not use";
            types.push_back(argument_type(a));
        }
        auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context_), types, false);
        auto *function =
            llvm::Function::Create(type, llvm::Function::ExternalLinkage, symbol, module());
        function->setCallingConv(llvm::CallingConv::PTX_Kernel);
        function->setDoesNotThrow();
        for (size_t i = 0; i < types.size(); i++) {
            describe(kernel.args[i], function->getArg(unsigned(i)));
        }
        return function;
    }

    static void describe(const KernelArgument &a, llvm::Argument *argument) {
        argument->setName(c_identifier(a.name));
        llvm::LLVMContext &context = argument->getContext();
        if (a.is_tile_map) {
            llvm::Type *bytes =
                llvm::ArrayType::get(llvm::Type::getInt8Ty(context), TileCopyCall::map_bytes);
            argument->addAttr(llvm::Attribute::getWithByValType(context, bytes));
            argument->addAttr(llvm::Attribute::getWithAlignment(
                context, llvm::Align(TileCopyCall::map_alignment)));
        }
        if (!a.is_buffer) {
            return;
        }
        argument->addAttr(llvm::Attribute::NoAlias);
        argument->addAttr(llvm::Attribute::NoCapture);
        if (!a.written) {
            argument->addAttr(llvm::Attribute::ReadOnly);
        }
        argument->addAttr(
            llvm::Attribute::getWithAlignment(context, llvm::Align(uint64_t(known_alignment(a)))));
    }

    static int known_alignment(const KernelArgument &a) {
        int64_t known = a.alignment.modulus;
        int64_t largest = known & -known;
        bool aligned = a.alignment.remainder == 0 && largest > a.type.bytes();
        return int(aligned ? std::min<int64_t>(largest, 256) : a.type.bytes());
    }

    void emit_kernel(const DeviceKernel &kernel, const std::string &symbol) {
        llvm::Function *function = declare(kernel, symbol);
        FunctionEmitter f(*emitter_, function, machine_);
        for (size_t i = 0; i < kernel.args.size(); i++) {
            const KernelArgument &a = kernel.args[i];
            llvm::Value *v = function->getArg(unsigned(i));
            if (a.is_buffer) {
                f.set_host_alignment(a.name, known_alignment(a));
            } else if (a.type.is_bool()) {
                v = f.builder().CreateIsNotNull(v);
            }
            f.bind(a.name, v);
        }
        f.emit_body(legalize(kernel.body, capabilities(machine_, target_)));
        mark_invariant_loads(function);
        annotate(kernel, function);
    }

    /// What a kernel only reads stays as it is for as long as the kernel runs: loads of it are one
    /// before and after a store or a barrier, to passes that know nothing of aliases as well.
    static void mark_invariant_loads(llvm::Function *function) {
        llvm::MDNode *invariant = llvm::MDNode::get(function->getContext(), {});
        for (llvm::Instruction &i : llvm::instructions(*function)) {
            auto *load = llvm::dyn_cast<llvm::LoadInst>(&i);
            if (load && load->isSimple() && reads_unwritten_argument(*load)) {
                load->setMetadata(llvm::LLVMContext::MD_invariant_load, invariant);
            }
        }
    }

    /// The shape of the block, which the launch must then have.
    void annotate(const DeviceKernel &kernel, llvm::Function *function) {
        add_annotation(function, "kernel", 1);
        for (size_t i = 0; i < kernel.args.size(); i++) {
            if (kernel.args[i].is_tile_map) {  // stays where parameters are, counted from 1
                add_annotation(function, "grid_constant", int64_t(i) + 1);
            }
        }
        const int64_t *size = kernel.block_size;
        if (size[0] <= 0 || size[1] <= 0 || size[2] <= 0) {
            return;
        }
        add_annotation(function, "reqntidx", size[0]);
        add_annotation(function, "reqntidy", size[1]);
        add_annotation(function, "reqntidz", size[2]);
        const int64_t blocks = wanted_blocks(kernel);
        if (blocks > 0 && !calls_linked_code(*function)) {
            add_annotation(function, "minctasm", blocks);
        }
        bound_thread_indices(function, size);
        if (size[0] * size[1] * size[2] <= warp_size) {
            wait_as_warp(function, size[0] * size[1] * size[2]);
        }
    }

    /// A block that is one warp, or a part of one, has no other warps to wait for.
    void wait_as_warp(llvm::Function *function, int64_t threads) {
        std::vector<llvm::IntrinsicInst *> barriers;
        for (llvm::Instruction &i : llvm::instructions(function)) {
            auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
            if (call && call->getIntrinsicID() == llvm::Intrinsic::nvvm_barrier0) {
                barriers.push_back(call);
            }
        }
        const uint64_t mask = (uint64_t(1) << threads) - 1;
        for (llvm::IntrinsicInst *barrier : barriers) {
            llvm::IRBuilder<> b(barrier);
            b.CreateIntrinsic(llvm::Intrinsic::nvvm_bar_warp_sync, {},
                              {b.getInt32(uint32_t(mask))});
            barrier->eraseFromParent();
        }
    }

    /// Whether it calls what is linked with the module later. That knows nothing of how many
    /// registers a bound would leave it, and where it uses more, it does not link.
    bool calls_linked_code(llvm::Function &function) const {
        for (llvm::Instruction &i : llvm::instructions(function)) {
            auto *call = llvm::dyn_cast<llvm::CallBase>(&i);
            const llvm::Function *called = call ? call->getCalledFunction() : nullptr;
            if (called && called->isDeclaration() &&
                source_.linked.functions.count(called->getName().str())) {
                return true;
            }
        }
        return false;
    }

    void add_annotation(llvm::Function *function, const char *name, int64_t value) {
        auto *i32 = llvm::Type::getInt32Ty(context_);
        llvm::Metadata *operands[] = {
            llvm::ValueAsMetadata::get(function), llvm::MDString::get(context_, name),
            llvm::ValueAsMetadata::get(llvm::ConstantInt::get(i32, uint64_t(value)))};
        module()
            .getOrInsertNamedMetadata("nvvm.annotations")
            ->addOperand(llvm::MDNode::get(context_, operands));
    }

    void bound_thread_indices(llvm::Function *function, const int64_t *size) {
        llvm::MDBuilder metadata(context_);
        for (llvm::Instruction &i : llvm::instructions(function)) {
            auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
            int d = !call                                                                 ? -1
                    : call->getIntrinsicID() == llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x ? 0
                    : call->getIntrinsicID() == llvm::Intrinsic::nvvm_read_ptx_sreg_tid_y ? 1
                    : call->getIntrinsicID() == llvm::Intrinsic::nvvm_read_ptx_sreg_tid_z ? 2
                                                                                          : -1;
            if (d >= 0) {
                call->setMetadata(
                    llvm::LLVMContext::MD_range,
                    metadata.createRange(llvm::APInt(32, 0), llvm::APInt(32, uint64_t(size[d]))));
            }
        }
    }

    const DeviceModule &source_;
    const Machine &machine_;
    const Target target_;
    llvm::LLVMContext &context_;
    LoweredModule frame_;
    const std::vector<DeviceCode> no_code_;
    std::unique_ptr<ModuleEmitter> emitter_;
};

}  // namespace

std::vector<std::string> kernel_symbols(const DeviceModule &module) {
    std::vector<std::string> symbols;
    std::set<std::string> used;
    for (const DeviceKernel &kernel : module.kernels) {
        std::string stem = c_identifier(kernel.name), symbol = stem;
        for (int i = 2; !used.insert(symbol).second; i++) {
            symbol = stem + "_" + std::to_string(i);
        }
        symbols.push_back(symbol);
    }
    return symbols;
}

int64_t parameter_bytes(const DeviceKernel &kernel) {
    int64_t bytes = 0;
    for (const KernelArgument &a : kernel.args) {
        const int64_t size = a.is_tile_map ? TileCopyCall::map_bytes
                             : a.is_buffer ? 8
                                           : a.type.bytes();
        const int64_t alignment = a.is_tile_map ? TileCopyCall::map_alignment : size;
        bytes = (bytes + alignment - 1) / alignment * alignment + size;
    }
    return bytes;
}

int64_t wanted_blocks(const DeviceKernel &kernel) {
    constexpr int64_t threads_at_once = 512;
    const int64_t threads = kernel.block_size[0] * kernel.block_size[1] * kernel.block_size[2];
    const bool waits_for_copies =
        threads >= threads_at_once / 4 && threads < threads_at_once &&
        contains_intrinsic(kernel.body, Intrinsic::gpu_async_copy) &&
        !contains_intrinsic(kernel.body, Intrinsic::gpu_warpgroup_multiply_add) &&
        !contains_intrinsic(kernel.body, Intrinsic::matrix_multiply_add);
    return kernel.min_blocks > 0 ? kernel.min_blocks
           : waits_for_copies    ? threads_at_once / threads
                                 : 0;
}

/// The version that kernels with many parameters need.
static int least_isa(const DeviceModule &module) {
    const auto has_many = [](const DeviceKernel &kernel) {
        return parameter_bytes(kernel) > max_plain_parameter_bytes;
    };
    return std::any_of(module.kernels.begin(), module.kernels.end(), has_many) ? 81 : 0;
}

std::string ptx_text(const DeviceModule &module, const Target &target, Capability capability,
                     const CudaToolkit &toolkit, const DeviceBitcode &bitcode) {
    llvm::LLVMContext context;
    NvptxMachine machine(capability, !toolkit.libdevice.empty());
    DeviceModuleEmitter emitter(module, target, machine, context);
    PtxWriter writer(capability, least_isa(module));
    writer.prepare(emitter.module());
    emitter.emit(bitcode);
    join_dot_products(emitter.module());
    widen_products(emitter.module());
    if (!toolkit.libdevice.empty()) {
        link_libdevice(emitter.module(), toolkit.libdevice);
    }
    let_sums_take_reciprocals(emitter.module());
    writer.optimize(emitter.module());
    multiply_for_constant_divisors(emitter.module());
    put_late_products_first(emitter.module());
    return writer.text(emitter.module());
}

std::string bitcode_ptx(const BitcodeImage &bitcode, Capability capability,
                        const CudaToolkit &toolkit) {
    llvm::LLVMContext context;
    llvm::Module module(bitcode.linkable->name, context);
    PtxWriter writer(capability);
    writer.prepare(module);
    link_bitcode(module, {bitcode}, bitcode_symbols(bitcode).functions);
    if (!toolkit.libdevice.empty()) {
        link_libdevice(module, toolkit.libdevice);
    }
    writer.optimize(module);
    return writer.text(module);
}

}  // namespace calotype::internal
