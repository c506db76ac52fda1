// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/cuda/context.h"

namespace calotype {
namespace runtime {
namespace cuda {

/** KernelBackend::launch. */
calotype_status launch(const DeviceScope &scope, void *function, const calotype_kernel_desc &kernel,
                       const uint32_t grid[3], const uint32_t block[3],
                       uint32_t dynamic_shared_bytes, void *stream, void **args);

}  // namespace cuda
}  // namespace runtime
}  // namespace calotype
