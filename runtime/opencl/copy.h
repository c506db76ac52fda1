// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies between host and device copies of buffers, and between device copies.
#pragma once

#include "runtime/abi/device_interface.h"

namespace calotype {
namespace runtime {
namespace opencl {

/** @name Members of calotype_device_interface_impl_t */
/**@{*/
int copy_to_host(void *user_context, calotype_buffer_t *buf);
int copy_to_device(void *user_context, calotype_buffer_t *buf);
int buffer_copy(void *user_context, calotype_buffer_t *src,
                const calotype_device_interface_t *dst_device_interface, calotype_buffer_t *dst);
/**@}*/

}  // namespace opencl
}  // namespace runtime
}  // namespace calotype
