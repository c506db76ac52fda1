// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From OpenCL C to the driver's binary, from that to a cl_program, which the
// kernel cache knows as a module, and to kernels: their objects, launching
// them, and events behind what is queued.
#pragma once

#include "runtime/device/kernel_backend.h"
#include "runtime/opencl/types.h"

namespace calotype::runtime::opencl {

/** @name Members of KernelBackend */
/**@{*/
calotype_status describe(const DeviceScope &scope, DeviceArch *arch);
void name_device(const DeviceScope &scope, Text &text);
/** Compiles the OpenCL C of linkables and module as one text. The image is the driver's binary,
 * kind CALOTYPE_OBJECT, or the text if the driver has no binaries. */
calotype_status build(const DeviceScope &scope, const DeviceArch &arch,
                      const calotype_module_desc &desc, LoadableImage *image);
/** A binary that the driver does not take, which the standard allows it at any time, is compiled
 * anew. */
calotype_status load(const DeviceScope &scope, const calotype_module_desc &desc,
                     const LoadableImage &image, void **module);
calotype_status unload(const DeviceScope &scope, void *module);
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

}  // namespace calotype::runtime::opencl
