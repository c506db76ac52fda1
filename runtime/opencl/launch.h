// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels: their objects, launching them, and events behind what is queued.
#pragma once

#include "runtime/device/kernel_backend.h"
#include "runtime/opencl/types.h"

namespace calotype {
namespace runtime {
namespace opencl {

/** @name Members of KernelBackend */
/**@{*/
calotype_status get_function(const DeviceScope &scope, void *module, const char *name,
                             void **function);
void close_function(void *function, bool has_driver);
void free_function(void *function);
calotype_status launch(const DeviceScope &scope, void *function, const calotype_kernel_desc &kernel,
                       const uint32_t grid[3], const uint32_t block[3],
                       uint32_t dynamic_shared_bytes, void *stream, void **args);
calotype_status record_event(const DeviceScope &scope, void *stream, void **event);
calotype_status query_event(void *event);
void destroy_event(void *event);
/**@}*/

}  // namespace opencl
}  // namespace runtime
}  // namespace calotype
