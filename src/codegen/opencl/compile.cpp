// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/device_code.h"
#include "support/error.h"

namespace calotype::internal {

DeviceCode compile_opencl_module(const DeviceModule &module, const Target &) {
    user_error << "module " << module.name << ": code for OpenCL is not generated yet";
}

}  // namespace calotype::internal
