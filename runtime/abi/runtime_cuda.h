/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * CUDA devices. libcuda.so.1 is loaded when it is first needed, or what CT_CUDA_DRIVER_LIBRARY
 * names.
 *
 * A call works in the context that calotype_cuda_acquire_context() answers: the one of its
 * calotype_device_context (device_context.h), else the primary context of the chosen device
 * (CT_GPU_DEVICE, calotype_set_gpu_device()), which it shares with the CUDA runtime library.
 *
 * What a call does is queued on its stream: copies, launches, and also allocating and freeing. Two
 * calls with different streams that share a buffer are ordered by the application, as is the
 * freeing of the buffer. Copies from and to the host wait until they are done; where a stream is
 * being captured, what would have to wait is an error.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buffer.h"
#include "device_interface.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What cuda.h calls CUcontext and CUstream points at these. */
struct CUctx_st;
struct CUstream_st;

extern const struct calotype_device_interface_t *calotype_cuda_device_interface(void);

/** @name Context and stream of a call
 * Defining the functions in the application, or the setters, replace them. A replacement of
 * acquire must come with one of release, which is called once for each successful acquire. What
 * they answer is 0 or an error code; `create` is false where a context that does not exist yet is
 * not wanted, which is no error and leaves *context null. */
/**@{*/
extern int calotype_cuda_acquire_context(void *user_context, struct CUctx_st **context,
                                         bool create);
extern int calotype_cuda_release_context(void *user_context);
extern int calotype_cuda_get_stream(void *user_context, struct CUctx_st *context,
                                    struct CUstream_st **stream);
typedef int (*calotype_cuda_acquire_context_t)(void *user_context, struct CUctx_st **context,
                                               bool create);
typedef int (*calotype_cuda_release_context_t)(void *user_context);
typedef int (*calotype_cuda_get_stream_t)(void *user_context, struct CUctx_st *context,
                                          struct CUstream_st **stream);
extern calotype_cuda_acquire_context_t
calotype_set_cuda_acquire_context(calotype_cuda_acquire_context_t acquire);
extern calotype_cuda_release_context_t
calotype_set_cuda_release_context(calotype_cuda_release_context_t release);
extern calotype_cuda_get_stream_t calotype_set_cuda_get_stream(calotype_cuda_get_stream_t get);
/** To be set: a call that names no context works in the one that is current on its thread, as
 * cudaSetDevice() or a library with contexts of its own left it; where none is, in the default one.
 *
 *     calotype_set_cuda_acquire_context(calotype_cuda_acquire_current_context);
 */
extern int calotype_cuda_acquire_current_context(void *user_context, struct CUctx_st **context,
                                                 bool create);
/** To be set: a call that names no stream works on CUDA's default stream of its thread, as code
 * compiled with CUDA_API_PER_THREAD_DEFAULT_STREAM does.
 *
 *     calotype_set_cuda_get_stream(calotype_cuda_get_per_thread_stream);
 */
extern int calotype_cuda_get_per_thread_stream(void *user_context, struct CUctx_st *context,
                                               struct CUstream_st **stream);
/**@}*/

/** @name Device memory of the application
 * The caller keeps the memory, which must outlive the buffer's use of it. The pointer is to the
 * element at the mins of the buffer. */
/**@{*/
extern int calotype_cuda_wrap_device_ptr(void *user_context, struct calotype_buffer_t *buf,
                                         uint64_t device_ptr);
extern int calotype_cuda_detach_device_ptr(void *user_context, struct calotype_buffer_t *buf);
/** The address on the device of the element at the mins, 0 if the buffer is not on CUDA. */
extern uintptr_t calotype_cuda_get_device_ptr(void *user_context, struct calotype_buffer_t *buf);
/** Give freed memory that is kept for later back to the driver. Returns 0 or an error code. */
extern int calotype_cuda_release_unused_device_allocations(void *user_context);
/**@}*/

/** @name Kernels as PTX
 * For objects of generators that bring PTX and launch by name. `*state_ptr`, null at first, tells
 * which module it is, on every device; the module is held by the thread until it finalizes. Arrays
 * end with a size of 0; an argument that is a buffer is given as its calotype_buffer_t. Errors are
 * reported. */
/**@{*/
extern int calotype_cuda_initialize_kernels(void *user_context, void **state_ptr, const char *src,
                                            int size);
extern int calotype_cuda_run(void *user_context, void *state_ptr, const char *entry_name,
                             int blocksX, int blocksY, int blocksZ, int threadsX, int threadsY,
                             int threadsZ, int shared_mem_bytes, size_t arg_sizes[], void *args[],
                             int8_t arg_is_buffer[]);
extern void calotype_cuda_finalize_kernels(void *user_context, void *state_ptr);
/**@}*/

/** @name What is there */
/**@{*/
/** Whether there is a driver and the chosen device has at least that compute capability, as 90 for
 * 9.0; 0 for any. Makes no context and reports no error. */
extern int calotype_cuda_can_run(int min_capability);
/** The compute capability of the chosen device, as 90 for 9.0; -1 if there is none. Makes no context and
 * reports no error. */
extern int calotype_cuda_capability(void);
/** Why calotype_cuda_can_run() says no, in a sentence copied to `text`, or "" if it says yes. */
extern void calotype_cuda_explain(int min_capability, char *text, size_t size);
/** The function of the driver that its library exports under that name, as "cuStreamCreate" or
 * "cuMemAlloc_v2"; null if it has none, or if there is no driver. Reports no error. */
extern void *calotype_cuda_get_symbol(void *user_context, const char *name);
/**@}*/

/** For tests: use this library as the driver from now on; null brings back the usual ones. No
 * buffer may be on a device and no module loaded. Returns 0, or an error code without reporting it
 * if it cannot be loaded. */
extern int calotype_cuda_set_driver_library(const char *file_name);

#ifdef __cplusplus
}
#endif
