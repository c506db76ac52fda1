// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels as source: OpenCL C 1.2 or later, or CUDA C++, by one printer.
#pragma once

#include <string>

#include "codegen/device_code.h"
#include "codegen/opencl/dialect.h"

namespace calotype::internal {

/// Source and what the host must know of its kernels, in the order of the module's.
struct DeviceSource {
    std::string text;
    std::vector<DeviceKernelCode> kernels;
};

/// The module in that dialect; it needs no other file. CompileError if a kernel uses what the
/// target's features leave out (float64 without cl_doubles) or what the dialect has no word for.
DeviceSource device_source(const DeviceModule &module, const Target &target, Dialect dialect);

}  // namespace calotype::internal
