// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/device_code.h"
#include "support/error.h"

namespace calotype::internal {

DeviceCode compile_cuda_module(const DeviceModule &module, const Target &) {
    user_error << "module " << module.name << ": code for CUDA is not generated yet";
}

}  // namespace calotype::internal
