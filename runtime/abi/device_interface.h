/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Buffers on devices: one table of functions a kind of device, and functions that work with any.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The part of a device that only the runtime calls (device_interface_impl.h). */
struct calotype_device_interface_impl_t;

/** A kind of device. Call the functions below rather than these members, which expect what those
 * check. */
typedef struct calotype_device_interface_t {
    int (*device_malloc)(void *user_context, struct calotype_buffer_t *buf,
                         const struct calotype_device_interface_t *device_interface);
    int (*device_free)(void *user_context, struct calotype_buffer_t *buf);
    int (*device_sync)(void *user_context, struct calotype_buffer_t *buf);
    void (*device_release)(void *user_context,
                           const struct calotype_device_interface_t *device_interface);
    int (*copy_to_host)(void *user_context, struct calotype_buffer_t *buf);
    int (*copy_to_device)(void *user_context, struct calotype_buffer_t *buf,
                          const struct calotype_device_interface_t *device_interface);
    int (*device_and_host_malloc)(void *user_context, struct calotype_buffer_t *buf,
                                  const struct calotype_device_interface_t *device_interface);
    int (*device_and_host_free)(void *user_context, struct calotype_buffer_t *buf);
    int (*buffer_copy)(void *user_context, struct calotype_buffer_t *src,
                       const struct calotype_device_interface_t *dst_device_interface,
                       struct calotype_buffer_t *dst);
    int (*device_crop)(void *user_context, const struct calotype_buffer_t *src,
                       struct calotype_buffer_t *dst);
    int (*device_slice)(void *user_context, const struct calotype_buffer_t *src, int slice_dim,
                        int slice_pos, struct calotype_buffer_t *dst);
    int (*device_release_crop)(void *user_context, struct calotype_buffer_t *buf);
    int (*wrap_native)(void *user_context, struct calotype_buffer_t *buf, uint64_t handle,
                       const struct calotype_device_interface_t *device_interface);
    int (*detach_native)(void *user_context, struct calotype_buffer_t *buf);
    int (*compute_capability)(void *user_context, int *major, int *minor);
    const struct calotype_device_interface_impl_t *impl;
} calotype_device_interface_t;

/* All that return an int return 0 or an error code. Every one may be called from several threads
 * at once on different buffers. */

/** Give up all resources of a device (contexts, modules). No buffer may be on it. */
extern void calotype_device_release(void *user_context,
                                    const struct calotype_device_interface_t *device_interface);

/** Bring the host copy up to date, if the device copy is newer. */
extern int calotype_copy_to_host(void *user_context, struct calotype_buffer_t *buf);

/** Bring the device copy up to date, if the host copy is newer, allocating it if there is none.
 * A null interface means the one that the buffer is on. A device copy that the device of the call
 * cannot reach, because it is another one's, is moved there; crops and other objects that share the
 * allocation then have none any more and must not be used on a device. */
extern int calotype_copy_to_device(void *user_context, struct calotype_buffer_t *buf,
                                   const struct calotype_device_interface_t *device_interface);

/** The same two without waiting until the elements are copied, so that copies overlap with kernels
 * on other streams. The user context must name the stream on which they are done
 * (device_context.h), else they wait. Host memory must not be touched before
 * calotype_device_sync() with the same user context, or an event of the application on that stream,
 * says that they are done; what is called with that stream in the meantime is in order. Only host
 * memory of calotype_device_and_host_malloc(), or that the application has page-locked, is copied
 * at once with kernels.
 *
 *     calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, stream);
 *     calotype_copy_to_device_async(&on, input, calotype_cuda_device_interface());
 *     pipeline(&on, input, output);
 *     calotype_copy_to_host_async(&on, output);
 *     calotype_device_sync(&on, output);
 */
extern int calotype_copy_to_host_async(void *user_context, struct calotype_buffer_t *buf);
extern int
calotype_copy_to_device_async(void *user_context, struct calotype_buffer_t *buf,
                              const struct calotype_device_interface_t *device_interface);

/** Copy the elements that both buffers have, by coordinate, from wherever src is up to date.
 * To the host of dst if the interface is null, else to that device; dst must have memory there. */
extern int calotype_buffer_copy(void *user_context, struct calotype_buffer_t *src,
                                const struct calotype_device_interface_t *dst_device_interface,
                                struct calotype_buffer_t *dst);

/** Make dst's device allocation a part of src's. dst must have its own shape already, within src's.
 * dst must end with calotype_device_release_crop before src's allocation ends. */
extern int calotype_device_crop(void *user_context, const struct calotype_buffer_t *src,
                                struct calotype_buffer_t *dst);

/** The same for dst being src without dimension slice_dim, at coordinate slice_pos. */
extern int calotype_device_slice(void *user_context, const struct calotype_buffer_t *src,
                                 int slice_dim, int slice_pos, struct calotype_buffer_t *dst);

extern int calotype_device_release_crop(void *user_context, struct calotype_buffer_t *buf);

/** Wait until the device has done all work that concerns the buffer. */
extern int calotype_device_sync(void *user_context, struct calotype_buffer_t *buf);

/** Wait until the device has done all work. */
extern int calotype_device_sync_global(void *user_context,
                                       const struct calotype_device_interface_t *device_interface);

/** Allocate the buffer's device copy, without copying. If there is one already on the same
 * interface, it is moved as by calotype_copy_to_device(), should it be another device's; an error
 * if it is on another interface. */
extern int calotype_device_malloc(void *user_context, struct calotype_buffer_t *buf,
                                  const struct calotype_device_interface_t *device_interface);

/** Free the device copy, even if it is newer than the host's. Nothing to do if there is none. */
extern int calotype_device_free(void *user_context, struct calotype_buffer_t *buf);

/** Allocate host and device copies in one go for a buffer that has neither. The host's is of a kind
 * that the device copies fast from and to: page-locked on CUDA. calotype_device_and_host_free ends
 * both. */
extern int
calotype_device_and_host_malloc(void *user_context, struct calotype_buffer_t *buf,
                                const struct calotype_device_interface_t *device_interface);
extern int calotype_device_and_host_free(void *user_context, struct calotype_buffer_t *buf);

/** Use the device's own handle (a pointer, a memory object) as the buffer's device copy. The caller
 * keeps the handle, which must outlive the buffer's use of it. */
extern int calotype_device_wrap_native(void *user_context, struct calotype_buffer_t *buf,
                                       uint64_t handle,
                                       const struct calotype_device_interface_t *device_interface);
/** Undo calotype_device_wrap_native. */
extern int calotype_device_detach_native(void *user_context, struct calotype_buffer_t *buf);

/** Which device of its kind to use: a number from 0, or -1 for the one that seems fastest. The
 * default is what CT_GPU_DEVICE says, else -1; INT32_MAX, which no device has, where that is no
 * such number. */
extern void calotype_set_gpu_device(int device);
extern int calotype_get_gpu_device(void *user_context);

/** @name Destructors in generated code */
/**@{*/
extern void calotype_device_free_as_destructor(void *user_context, void *buf);
extern void calotype_device_and_host_free_as_destructor(void *user_context, void *buf);
extern void calotype_device_host_nop_free(void *user_context, void *buf);
/**@}*/

/** @name Pools of device allocations */
/**@{*/
/** Keep freed device allocations for later ones of the same size; CUDA keeps a few until it is told.
 * Turning it off frees what is kept. Returns 0 or an error code. */
extern int calotype_reuse_device_allocations(void *user_context, bool reuse);
/** Whether a device should keep what this caller frees. */
extern bool calotype_can_reuse_device_allocations(void *user_context);
/** A device that keeps allocations says so once, and how to free them. The pool must live as long
 * as the process. */
typedef struct calotype_device_allocation_pool {
    int (*release_unused)(void *user_context);
    struct calotype_device_allocation_pool *next;
} calotype_device_allocation_pool;
extern void calotype_register_device_allocation_pool(struct calotype_device_allocation_pool *pool);
/**@}*/

#ifdef __cplusplus
}

inline int calotype_buffer_t::device_sync(void *user_context) {
    if (device_interface == nullptr || device_interface->device_sync == nullptr) {
        return 0;
    }
    return device_interface->device_sync(user_context, this);
}
#endif
