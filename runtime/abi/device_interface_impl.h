/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a back end supplies for calotype_device_interface_t::impl. The device-neutral functions keep
 * the dirty bits and check their arguments; these do the work. All return 0 or an error code.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "device_interface.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct calotype_device_interface_impl_t {
    /** buf->device is 0 on entry and set on success. */
    int (*device_malloc)(void *user_context, struct calotype_buffer_t *buf);
    int (*device_free)(void *user_context, struct calotype_buffer_t *buf);
    int (*device_sync)(void *user_context, struct calotype_buffer_t *buf);
    int (*device_release)(void *user_context);
    /** Between host and device memory of one buffer. With `waits` false it need not be done when
     * this returns, if the call names a stream. */
    int (*copy)(void *user_context, struct calotype_buffer_t *buf, bool to_device, bool waits);
    /** Host memory for device_and_host_malloc. Null: that of calotype_malloc does. */
    int (*host_malloc)(void *user_context, struct calotype_buffer_t *buf);
    void (*host_free)(void *user_context, struct calotype_buffer_t *buf);
    /** To the host of dst if the interface is null. Answers
     * calotype_error_code_incompatible_device_interface for sources that it cannot read. */
    int (*buffer_copy)(void *user_context, struct calotype_buffer_t *src,
                       const struct calotype_device_interface_t *dst_device_interface,
                       struct calotype_buffer_t *dst);
    /** A slice has no dimension `slice_dim`, at `slice_pos` of the whole; a crop has all (-1). */
    int (*make_part)(void *user_context, const struct calotype_buffer_t *src, int slice_dim,
                     int slice_pos, struct calotype_buffer_t *dst);
    int (*wrap_native)(void *user_context, struct calotype_buffer_t *buf, uint64_t handle);
    /** What the last two have made of buf->device ends. Null: there is nothing to do. */
    int (*release_handle)(void *user_context, struct calotype_buffer_t *buf);
    /** What the kernel cache needs (a calotype::runtime::KernelBackend of device/kernel_backend.h);
     * null where the device runs no kernels. */
    const void *kernels;
    /** Whether kernels of a call can use the device copy where it is; false: it can be moved, by
     * buffer_copy. Null: they can, or launches say that they cannot. */
    int (*locate)(void *user_context, const struct calotype_buffer_t *buf, bool *is_here);
} calotype_device_interface_impl_t;

#ifdef __cplusplus
}
#endif
