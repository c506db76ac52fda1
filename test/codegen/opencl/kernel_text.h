// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of tests, from text of the IR.
#pragma once

#include <string>
#include <vector>

#include "codegen/opencl/device_source.h"
#include "ir/parser.h"

namespace calotype::internal {

inline KernelArgument in_buffer(const std::string &name, Type t) {
    KernelArgument a;
    a.name = name;
    a.type = t;
    a.is_buffer = a.read = true;
    return a;
}

inline KernelArgument out_buffer(const std::string &name, Type t) {
    KernelArgument a = in_buffer(name, t);
    a.written = true;
    return a;
}

inline KernelArgument scalar_arg(const std::string &name, Type t) {
    KernelArgument a;
    a.name = name;
    a.type = t;
    return a;
}

inline DeviceModule one_kernel(const std::vector<KernelArgument> &args, const Stmt &body,
                               DeviceAPI api = DeviceAPI::OpenCL) {
    DeviceModule module;
    module.api = api;
    module.name = "test";
    module.kernels.emplace_back();
    module.kernels[0].name = "k";
    module.kernels[0].args = args;
    module.kernels[0].body = body;
    return module;
}

inline std::string opencl_text(const DeviceModule &module,
                               const std::string &target = "x86-64-linux-opencl-cl_doubles") {
    return device_source(module, Target(target), Dialect::OpenCL).text;
}

inline std::string cuda_text(const DeviceModule &module,
                             const std::string &target = "x86-64-linux-cuda_capability_80") {
    return device_source(module, Target(target).with_implied_features(), Dialect::CUDA).text;
}

}  // namespace calotype::internal
