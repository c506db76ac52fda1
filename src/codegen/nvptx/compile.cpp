// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compile_cuda_module: PTX that runs on every device of the target's capability or newer, and where
// the toolkit is found a cubin for each architecture chosen, made from PTX for just that.
#include "codegen/device_code.h"

#include <optional>

#include "codegen/nvptx/assemble.h"
#include "codegen/nvptx/cubin.h"
#include "codegen/nvptx/cuda_source.h"
#include "codegen/nvptx/kernels.h"
#include "codegen/nvptx/launch_bounds.h"
#include "codegen/nvptx/linked_module.h"
#include "codegen/nvptx/occupancy.h"
#include "codegen/opencl/device_source.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

/// Static shared memory that every architecture grants a block.
constexpr int64_t max_static_shared = 48 * 1024;

/// What kernels may take as parameters from sm_70 on.
constexpr int64_t max_parameter_bytes = 32764;

void check_parameters(const DeviceKernel &kernel, Capability capability) {
    const int64_t bytes = parameter_bytes(kernel);
    const bool is_old = capability.sm < 70;
    const int64_t most = is_old ? max_plain_parameter_bytes : max_parameter_bytes;
    user_assert(bytes <= most) << "kernel " << kernel.name << " has " << bytes
                               << " bytes of parameters, at most " << most << " are possible for "
                               << to_string(capability)
                               << (is_old && bytes <= max_parameter_bytes
                                       ? ": name cuda_capability_70 or a later one in the target"
                                       : "");
}

std::vector<DeviceKernelCode> kernel_codes(const DeviceModule &module, Capability capability) {
    std::vector<std::string> symbols = kernel_symbols(module);
    std::vector<DeviceKernelCode> codes;
    for (size_t i = 0; i < symbols.size(); i++) {
        const DeviceKernel &kernel = module.kernels[i];
        user_assert(kernel.shared_bytes <= max_static_shared)
            << "kernel " << kernel.name << " has " << kernel.shared_bytes
            << " bytes of shared memory of constant size, at most " << max_static_shared
            << " are possible";
        check_parameters(kernel, capability);
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
                                  const std::string &ptx, const Assembly &assembly,
                                  Capability capability) {
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
    infer_spills(ptx, facts);
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

/// What the compilation of one module works with.
struct CudaJob {
    const DeviceModule &module;
    const Target &target;
    const CudaToolkit &toolkit;
    LinkedModule &linked;
};

/// Our half as LTO-IR: CUDA C++, which NVRTC compiles.
DeviceImage lto_ir_of(const CudaJob &job, Capability capability) {
    const DeviceSource source = device_source(job.module, job.target, Dialect::CUDA);
    const Capability c = compilable(capability, job.toolkit);
    CudaCompilation code = compile_cuda(source.text, "kernels.cu", CudaForm::LtoIr, c, job.toolkit);
    internal_assert(code.ok) << "CUDA C++ of module " << job.module.name
                             << " does not compile: " << code.log << source.text;
    return {CALOTYPE_LTOIR, uint32_t(c.sm), c.suffix, std::move(code.bytes)};
}

/// Our half for one architecture; code.images begins with the first of these.
DeviceImage kernels_for(const CudaJob &job, Capability capability, const DeviceCode &code) {
    const bool is_lto = job.linked.is_lto();
    const DeviceImage &known = code.images[is_lto ? 1 : 0];
    if (known.sm == uint32_t(capability.sm)) {
        return known;
    }
    if (is_lto) {
        return lto_ir_of(job, capability);
    }
    return {CALOTYPE_PTX, uint32_t(capability.sm), capability.suffix,
            ptx_text(job.module, job.target, capability, job.toolkit, job.linked.bitcode())};
}

/// Bounds with which kernels do better, and what they become with them.
struct BoundedKernels {
    LaunchBounds bounds;
    Assembly assembly;
};

/// By what the kernels use without bounds on that architecture. None if no kernel does better, nor where
/// code is linked: functions that kernels call must not use more registers than these.
std::optional<BoundedKernels> bound_launches(const CudaJob &job, const DeviceImage &kernels,
                                             Capability capability, const Assembly &assembly,
                                             const DeviceCode &code) {
    if (kernels.kind != CALOTYPE_PTX || !job.linked.empty()) {
        return std::nullopt;
    }
    LaunchBounds bounds(facts_of(code.kernels, kernels.bytes, assembly, capability), job.module,
                        kernels.bytes);
    while (!bounds.empty()) {
        Assembly bounded = assemble(bounds.apply(kernels.bytes), capability, job.toolkit);
        if (!bounded.ok) {
            return std::nullopt;
        }
        const auto facts = facts_of(code.kernels, kernels.bytes, bounded, capability);
        if (!bounds.refine(facts)) {
            return BoundedKernels{std::move(bounds), std::move(bounded)};
        }
    }
    return std::nullopt;
}

/// The architecture that PTX is compiled for where kernels are loaded, of those that have none of our
/// cubins: the newest whose assembler is known to be there.
constexpr Capability of_loader = {90, 0};

/// PTX is embedded with bounds as well: those of the newest cubin, or those that do on the architecture
/// that PTX is for where that is newer. How many registers a kernel takes, and how many there are for a
/// thread, differs.
void bound_embedded(const CudaJob &job, Capability newest, std::optional<BoundedKernels> bounded,
                    DeviceCode &code) {
    DeviceImage &embedded = code.images[0];
    if (embedded.kind != CALOTYPE_PTX || !job.linked.empty()) {
        return;
    }
    if (newest.sm < of_loader.sm) {
        const Assembly assembly = assemble(embedded.bytes, of_loader, job.toolkit);
        bounded =
            assembly.ok ? bound_launches(job, embedded, of_loader, assembly, code) : std::nullopt;
    }
    if (bounded) {
        embedded.bytes = bounded->bounds.apply(embedded.bytes);
    }
}

/// Adds a cubin, or a note of why there is none. The kernels with their bounds if they have some in it.
std::optional<BoundedKernels> add_cubin(const CudaJob &job, Capability capability,
                                        DeviceCode &code) {
    const DeviceImage kernels = kernels_for(job, capability, code);
    capability = job.linked.made_for(capability);
    Assembly assembly = job.linked.empty() ? assemble(kernels.bytes, capability, job.toolkit)
                                           : job.linked.link(kernels, capability);
    if (!assembly.ok) {
        internal_assert(!can_assemble_for(capability, job.toolkit))
            << "PTX of module " << job.module.name << " is refused for " << to_string(capability)
            << ": " << assembly.log;
        code.notes.push_back("the CUDA toolkit in " + job.toolkit.root + " makes no code for " +
                             to_string(capability) + ": only PTX is embedded for it");
        return std::nullopt;
    }
    std::optional<BoundedKernels> bounded =
        bound_launches(job, kernels, capability, assembly, code);
    if (bounded) {
        assembly = bounded->assembly;
    }
    for (KernelFacts &f : facts_of(code.kernels, kernels.bytes, assembly, capability)) {
        code.facts.push_back(std::move(f));
    }
    if (assembly.log.find("wgmma.mma_async instructions are serialized") != std::string::npos) {
        code.notes.push_back("products of warpgroups wait for each other on " +
                             to_string(capability) + ", says the assembler: " + assembly.log);
    }
    code.images.push_back(
        {CALOTYPE_CUBIN, uint32_t(capability.sm), capability.suffix, std::move(assembly.cubin)});
    return bounded;
}

/// A cubin for each architecture that the target names or that is chosen for it. Where linkables
/// have no code for one that is only chosen, that is left out.
void add_cubins(const CudaJob &job, const std::vector<Capability> &capabilities, bool are_named,
                DeviceCode &code) {
    std::string missing;
    size_t left_out = 0;
    std::optional<BoundedKernels> bounded;
    for (Capability capability : capabilities) {
        missing = job.linked.missing_for(capability);
        user_assert(missing.empty() || !are_named) << missing;
        if (missing.empty()) {
            bounded = add_cubin(job, capability, code);
        } else {
            left_out++;
            code.notes.push_back("there is no machine code for " + to_string(capability) + ": " +
                                 missing);
        }
    }
    user_assert(left_out < capabilities.size()) << missing;
    bound_embedded(job, capabilities.back(), std::move(bounded), code);
}

/// Why linkables are linked only where the module is loaded.
std::string why_no_link(const CudaToolkit &toolkit) {
    return "the CUDA toolkit in " + toolkit.root +
           " has no nvJitLink: kernels are embedded as PTX alone, and linked when they are first "
           "used";
}

void add_machine_code(const CudaJob &job, const std::vector<Capability> &capabilities,
                      bool are_named, DeviceCode &code) {
    if (!job.toolkit.can_assemble()) {
        code.notes.emplace_back(
            "no CUDA toolkit was found ($CUDA_HOME, $CUDA_PATH, /usr/local/cuda, ptxas on $PATH): "
            "kernels are embedded as PTX alone, which the driver compiles when they are first "
            "used");
    } else if (job.linked.needs_link() && !can_link(job.toolkit)) {
        code.notes.push_back(why_no_link(job.toolkit));
    } else {
        add_cubins(job, capabilities, are_named, code);
    }
}

std::vector<Capability> cubins_of(const DeviceCode &code) {
    std::vector<Capability> list;
    for (const DeviceImage &image : code.images) {
        if (image.kind == CALOTYPE_CUBIN) {
            list.push_back({int(image.sm), image.suffix});
        }
    }
    return list;
}

}  // namespace

DeviceCode compile_cuda_module(const DeviceModule &module, const Target &named) {
    const CudaToolkit toolkit = find_cuda_toolkit();
    const Target target = named.with_implied_features();
    const Capability lowest = ptx_capability(named);
    const std::vector<Capability> capabilities = cubin_capabilities(named);
    const bool is_for_debugging = target.has_feature(Target::Debug);
    LinkedModule linked(module, lowest, capabilities[0], toolkit, is_for_debugging);
    const CudaJob job{module, target, toolkit, linked};
    DeviceCode code;
    code.kernels = kernel_codes(module, lowest);
    code.images.push_back({CALOTYPE_PTX, uint32_t(lowest.sm), lowest.suffix,
                           ptx_text(module, target, lowest, toolkit, linked.bitcode())});
    if (linked.is_lto()) {
        code.images.push_back(lto_ir_of(job, capabilities[0]));
        code.flags |= CALOTYPE_MOD_LTO;
    }
    add_machine_code(job, capabilities, names_capability(named), code);
    // With LTO-IR of ours, a link at load time takes that.
    bool half_links = true;
    code.linkables = linked.travelling(cubins_of(code), &half_links);
    for (DeviceImage &image : code.images) {
        const bool is_half = image.kind != CALOTYPE_CUBIN;
        const bool is_unused = image.kind == CALOTYPE_PTX && linked.is_lto();
        image.is_embedded = !is_half || (half_links && !is_unused);
    }
    if (linked.has_device_runtime()) {
        code.flags |= CALOTYPE_MOD_NRT | (is_for_debugging ? CALOTYPE_MOD_DEBUG : 0);
    }
    note_spills(code);
    return code;
}

}  // namespace calotype::internal
