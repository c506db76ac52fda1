// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/nvptx/device_module.h"

#include <gtest/gtest.h>

#include "codegen/nvptx/assemble.h"
#include "codegen/nvptx/kernels.h"
#include "codegen/nvptx/toolkit.h"
#include "ir/parser.h"

namespace calotype::internal {

KernelArgument input(const std::string &name, Type t, int alignment) {
    KernelArgument a;
    a.name = name;
    a.type = t;
    a.is_buffer = true;
    a.read = true;
    if (alignment) {
        a.alignment = {alignment, 0};
    }
    return a;
}

KernelArgument output(const std::string &name, Type t, int alignment) {
    KernelArgument a = input(name, t, alignment);
    a.written = true;
    return a;
}

KernelArgument scalar(const std::string &name, Type t) {
    KernelArgument a;
    a.name = name;
    a.type = t;
    return a;
}

DeviceKernel kernel(const std::string &body, const std::vector<KernelArgument> &args,
                    int64_t threads) {
    DeviceKernel k;
    k.name = "k";
    k.args = args;
    k.body = parse_stmt(body);
    k.block_size[0] = threads;
    k.block_size[1] = k.block_size[2] = threads ? 1 : 0;
    return k;
}

DeviceKernel pointwise(const std::string &e, Type from, Type to) {
    return kernel("let t = gpu_thread_index(0)\n out[t] = " + e,
                  {input("src", from), output("out", to)});
}

DeviceModule module_of(const std::vector<DeviceKernel> &kernels) {
    DeviceModule module;
    module.api = DeviceAPI::CUDA;
    module.name = "test";
    module.kernels = kernels;
    return module;
}

namespace {

CudaToolkit toolkit_for(const PtxOptions &options) {
    CudaToolkit toolkit = find_cuda_toolkit();
    if (!options.libdevice) {
        toolkit.libdevice.clear();
    }
    return toolkit;
}

}  // namespace

std::string ptx_of(const DeviceKernel &k, const PtxOptions &options) {
    Target target("x86-64-linux-cuda");
    for (Target::Feature f : options.features) {
        target.set_feature(f);
    }
    return ptx_text(module_of({k}), target, {options.sm, options.suffix}, toolkit_for(options));
}

int count(const std::string &text, const std::string &part) {
    int n = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
        n++;
    }
    return n;
}

const std::vector<Capability> &assembled_architectures() {
    static const std::vector<Capability> found = [] {
        std::vector<Capability> list;
        CudaToolkit toolkit = find_cuda_toolkit();
        for (int sm : {70, 75, 80, 86, 89, 90, 100, 120}) {
            if (can_assemble_for({sm, 0}, toolkit)) {
                list.push_back({sm, 0});
            }
        }
        return list;
    }();
    return found;
}

void expect_assembles(const DeviceKernel &k, const PtxOptions &options) {
    std::string ptx = ptx_of(k, options);
    std::vector<Capability> all = assembled_architectures();
    if (options.suffix) {
        const Capability own = {options.sm, options.suffix};
        all.assign(can_assemble_for(own, find_cuda_toolkit()) ? 1 : 0, own);
    }
    for (Capability capability : all) {
        if (capability.sm >= options.sm) {
            Assembly assembly = assemble(ptx, capability, find_cuda_toolkit());
            EXPECT_TRUE(assembly.ok) << to_string(capability) << ": " << assembly.log << ptx;
        }
    }
}

std::string checked_ptx(const DeviceKernel &k, const PtxOptions &options) {
    expect_assembles(k, options);
    return ptx_of(k, options);
}

}  // namespace calotype::internal
