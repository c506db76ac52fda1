// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/device/kernel_backend.h"

namespace calotype {
namespace runtime {
namespace cuda {

/** CUDA as the kernel cache sees it. */
extern const KernelBackend kernel_backend;

}  // namespace cuda
}  // namespace runtime
}  // namespace calotype
