// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device copies of buffers that are images: one channel, the element at the mins at their origin,
// dimension 0 of the buffer along their rows.
#pragma once

#include "runtime/abi/buffer.h"
#include "runtime/device/kernel_backend.h"

namespace calotype::runtime::opencl {

constexpr int max_image_dimensions = 3;

/** @name Members of calotype_device_interface_impl_t, where images have their own */
/**@{*/
int image_malloc(void *user_context, calotype_buffer_t *buf);
/** Copies know parts of an image; kernels take whole ones, and refuse others. */
int make_image_part(void *user_context, const calotype_buffer_t *src, int slice_dim, int slice_pos,
                    calotype_buffer_t *dst);
int wrap_image(void *user_context, calotype_buffer_t *buf, uint64_t handle);
/**@}*/

/** Copy what src and dst have in common where an image is at one end or both; an error code. The
 * other end may be host memory or a buffer. */
int copy_images(const DeviceScope &scope, const calotype_buffer_t &src, bool from_device,
                const calotype_buffer_t &dst, bool to_device);

}  // namespace calotype::runtime::opencl
