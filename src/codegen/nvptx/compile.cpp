// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compile_cuda_module: PTX that runs on every device of the target's capability or newer, and where
// the toolkit is found a cubin for each architecture chosen, made from PTX for just that.
#include "codegen/device_code.h"

#include "codegen/nvptx/assemble.h"
#include "codegen/nvptx/cubin.h"
#include "codegen/nvptx/kernels.h"
#include "codegen/nvptx/occupancy.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

/// Static shared memory that every architecture grants a block.
constexpr int64_t max_static_shared = 48 * 1024;

std::vector<DeviceKernelCode> kernel_codes(const DeviceModule &module) {
    std::vector<std::string> symbols = kernel_symbols(module);
    std::vector<DeviceKernelCode> codes;
    for (size_t i = 0; i < symbols.size(); i++) {
        const DeviceKernel &kernel = module.kernels[i];
        user_assert(kernel.shared_bytes <= max_static_shared)
            << "kernel " << kernel.name << " has " << kernel.shared_bytes
            << " bytes of shared memory of constant size, at most " << max_static_shared
            << " are possible";
        const int64_t *size = kernel.block_size;
        DeviceKernelCode code;
        code.symbol = symbols[i];
        code.max_threads = uint32_t(size[0] * size[1] * size[2]);
        code.static_shared_bytes = uint32_t(kernel.shared_bytes);
        codes.push_back(code);
    }
    return codes;
}

std::vector<KernelFacts> facts_of(const std::vector<DeviceKernelCode> &kernels,
                                  const Assembly &assembly, Capability capability) {
    std::vector<KernelFacts> facts;
    for (const DeviceKernelCode &kernel : kernels) {
        KernelFacts f;
        f.kernel = kernel.symbol;
        f.sm = uint32_t(capability.sm);
        f.suffix = capability.suffix;
        f.threads = kernel.max_threads ? int(kernel.max_threads) : -1;
        facts.push_back(f);
    }
    read_cubin_facts(assembly.cubin, facts);
    read_log_facts(assembly.log, facts);
    for (KernelFacts &f : facts) {
        fill_occupancy(f);
    }
    return facts;
}

void note_spills(DeviceCode &code) {
    for (const KernelFacts &f : code.facts) {
        if (f.spill_store_bytes > 0 || f.spill_load_bytes > 0) {
            code.notes.push_back(
                "kernel " + f.kernel + " spills registers on " + to_string({int(f.sm), f.suffix}) +
                ": " + std::to_string(f.spill_store_bytes) + " bytes stored and " +
                std::to_string(f.spill_load_bytes) + " bytes loaded a thread, with " +
                std::to_string(f.registers) + " registers");
        }
    }
}

/// Adds a cubin, or a note of why there is none.
void add_cubin(const DeviceModule &module, const Target &target, Capability capability,
               const CudaToolkit &toolkit, DeviceCode &code) {
    std::string ptx = code.images[0].sm == uint32_t(capability.sm)
                          ? code.images[0].bytes
                          : ptx_text(module, target, capability, toolkit);
    Assembly assembly = assemble(ptx, capability, toolkit);
    if (!assembly.ok) {
        internal_assert(!can_assemble_for(capability, toolkit))
            << "PTX of module " << module.name << " is refused for " << to_string(capability)
            << ": " << assembly.log;
        code.notes.push_back("the CUDA toolkit in " + toolkit.root + " makes no code for " +
                             to_string(capability) + ": only PTX is embedded for it");
        return;
    }
    for (KernelFacts &f : facts_of(code.kernels, assembly, capability)) {
        code.facts.push_back(std::move(f));
    }
    code.images.push_back(
        {CALOTYPE_CUBIN, uint32_t(capability.sm), capability.suffix, std::move(assembly.cubin)});
}

}  // namespace

DeviceCode compile_cuda_module(const DeviceModule &module, const Target &target) {
    const CudaToolkit toolkit = find_cuda_toolkit();
    const Capability lowest = ptx_capability(target);
    DeviceCode code;
    code.kernels = kernel_codes(module);
    code.images.push_back({CALOTYPE_PTX, uint32_t(lowest.sm), lowest.suffix,
                           ptx_text(module, target, lowest, toolkit)});
    if (!toolkit.can_assemble()) {
        code.notes.push_back("no CUDA toolkit was found ($CUDA_HOME, $CUDA_PATH, /usr/local/cuda, "
                             "ptxas on $PATH): kernels are embedded as PTX alone, which the driver "
                             "compiles when they are first used");
        return code;
    }
    for (Capability capability : cubin_capabilities(target)) {
        add_cubin(module, target, capability, toolkit, code);
    }
    note_spills(code);
    return code;
}

}  // namespace calotype::internal
