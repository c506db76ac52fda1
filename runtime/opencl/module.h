// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs: from OpenCL C to the driver's binary, and from that to a cl_program, which is what the
// kernel cache knows as a module.
#pragma once

#include "runtime/device/kernel_backend.h"
#include "runtime/opencl/types.h"

namespace calotype {
namespace runtime {
namespace opencl {

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
/**@}*/

}  // namespace opencl
}  // namespace runtime
}  // namespace calotype
