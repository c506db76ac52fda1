/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * OpenCL devices, version 1.2 and up. libOpenCL.so.1 is loaded when it is first needed, or what
 * CT_OPENCL_DRIVER_LIBRARY names.
 *
 * Of all devices of the platforms whose name contains CT_OCL_PLATFORM_NAME and whose type is among
 * CT_OCL_DEVICE_TYPE ("cpu", "gpu", "acc", "all", or several with commas between), GPUs come first;
 * CT_GPU_DEVICE or calotype_set_gpu_device() is a number in that list.
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

/* What CL/cl.h calls cl_context and cl_command_queue points at these. */
struct _cl_context;
struct _cl_command_queue;

extern const struct calotype_device_interface_t *calotype_opencl_device_interface(void);

/** Buffers of up to 3 dimensions as images (store_in(MemoryType::GPUTexture)): of one channel, with
 * elements of 8, 16 or 32 bits, dimension 0 of the buffer along their rows. Whatever the strides,
 * copies put each element in its place. A crop of an image can be copied; a kernel takes it only if
 * it begins at the image's first element. There are no slices. */
extern const struct calotype_device_interface_t *calotype_opencl_image_device_interface(void);

/** @name Context and queue of a call
 * By default those of its calotype_device_context (device_context.h), else one context with one
 * queue for each device. Defining the functions in the application, or the setters, replace them.
 * A replacement of acquire must come with one of release, which is called once for each successful
 * acquire. The queue runs in order. What they answer is 0 or an error code; `create` is false where
 * a context that does not exist yet is not wanted, which is no error and leaves *context null. */
/**@{*/
extern int calotype_acquire_cl_context(void *user_context, struct _cl_context **context,
                                       struct _cl_command_queue **queue, bool create);
extern int calotype_release_cl_context(void *user_context);
typedef int (*calotype_acquire_cl_context_t)(void *user_context, struct _cl_context **context,
                                             struct _cl_command_queue **queue, bool create);
typedef int (*calotype_release_cl_context_t)(void *user_context);
extern calotype_acquire_cl_context_t
calotype_set_acquire_cl_context(calotype_acquire_cl_context_t acquire);
extern calotype_release_cl_context_t
calotype_set_release_cl_context(calotype_release_cl_context_t release);
/**@}*/

/** @name Choices
 * Each is as long as 255 characters and copied; null or "" is no restriction. They count from when
 * the next context is made; the answers are valid until the next set. What was not set comes from
 * CT_OCL_PLATFORM_NAME, CT_OCL_DEVICE_TYPE and CT_OCL_BUILD_OPTIONS. */
/**@{*/
extern void calotype_opencl_set_platform_name(const char *name);
extern const char *calotype_opencl_get_platform_name(void *user_context);
extern void calotype_opencl_set_device_type(const char *type);
extern const char *calotype_opencl_get_device_type(void *user_context);
extern void calotype_opencl_set_build_options(const char *options);
extern const char *calotype_opencl_get_build_options(void *user_context);
/**@}*/

/** @name Memory objects of the application
 * The caller keeps `mem`, a cl_mem of the call's context, which must outlive the buffer's use of
 * it. The element at the lowest address is at its start. */
/**@{*/
extern int calotype_opencl_wrap_cl_mem(void *user_context, struct calotype_buffer_t *buf,
                                       uint64_t mem);
/** The same for an image, of as many dimensions as the buffer, at least as large, with channel
 * order CL_R and the data type that the elements have: CL_SIGNED_INT8 ... CL_UNSIGNED_INT32,
 * CL_FLOAT, and CL_UNSIGNED_INT16 of floats of 16 bits. The element at the mins is its first. */
extern int calotype_opencl_image_wrap_cl_mem(void *user_context, struct calotype_buffer_t *buf,
                                             uint64_t mem);
extern int calotype_opencl_detach_cl_mem(void *user_context, struct calotype_buffer_t *buf);
/** The cl_mem of a buffer on an OpenCL device, 0 if there is none. */
extern uintptr_t calotype_opencl_get_cl_mem(void *user_context, struct calotype_buffer_t *buf);
/** Where in it the element at the mins of the buffer is, in bytes; 0 of images. */
extern uint64_t calotype_opencl_get_crop_offset(void *user_context, struct calotype_buffer_t *buf);
/**@}*/

/** @name Kernels as OpenCL C
 * For objects of generators that bring OpenCL C and launch by name: as calotype_cuda_run() and its
 * companions (runtime_cuda.h). A kernel takes one `__global` pointer for each buffer, which must
 * begin where its memory object does, and after all arguments, if it has one parameter more, a
 * `__local` pointer to as many bytes as a launch says. */
/**@{*/
extern int calotype_opencl_initialize_kernels(void *user_context, void **state_ptr, const char *src,
                                              int size);
extern int calotype_opencl_run(void *user_context, void *state_ptr, const char *entry_name,
                               int blocksX, int blocksY, int blocksZ, int threadsX, int threadsY,
                               int threadsZ, int shared_mem_bytes, size_t arg_sizes[], void *args[],
                               int8_t arg_is_buffer[]);
extern void calotype_opencl_finalize_kernels(void *user_context, void *state_ptr);
/**@}*/

/** @name What is there */
/**@{*/
/** Whether there are a driver and a device of the chosen kind. Makes no context and reports no
 * error. */
extern int calotype_opencl_can_run(void);
/** Why calotype_opencl_can_run() says no, in a sentence copied to `text`, or "" if it says yes. */
extern void calotype_opencl_explain(char *text, size_t size);
/**@}*/

/** For tests: use this library as the driver from now on; null brings back the usual ones. No
 * buffer may be on a device and no module loaded. Returns 0, or an error code without reporting it
 * if it cannot be loaded. */
extern int calotype_opencl_set_driver_library(const char *file_name);

#ifdef __cplusplus
}
#endif
