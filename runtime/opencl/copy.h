// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies between host and device copies of buffers, and between device copies.
#pragma once

#include "runtime/abi/device_interface.h"
#include "runtime/device/kernel_backend.h"

namespace calotype::runtime::opencl {

/** Copy what src and dst have in common, from and to the device or the host; an error code. With
 * the host at one end `waits` tells whether the copy is complete then. */
int copy_elements(const DeviceScope &scope, const calotype_buffer_t &src, bool from_device,
                  const calotype_buffer_t &dst, bool to_device, bool waits = true);

/** @name Members of calotype_device_interface_impl_t, of buffers and of images */
/**@{*/
int copy(void *user_context, calotype_buffer_t *buf, bool to_device, bool waits);
int buffer_copy(void *user_context, calotype_buffer_t *src,
                const calotype_device_interface_t *dst_device_interface, calotype_buffer_t *dst);
/**@}*/

}  // namespace calotype::runtime::opencl
