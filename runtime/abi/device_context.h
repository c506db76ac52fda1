/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Context and stream of one call as plain data: the user context of a pipeline may point at this.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct calotype_device_interface_t;

/** The first word of a calotype_device_context. */
#define CALOTYPE_DEVICE_CONTEXT_MAGIC UINT64_C(0x7478657443656443)

/** On what a call of a pipeline works. The runtime looks for the magic word behind every user
 * context that is a multiple of 8 and above 4096; such a one must be an address that can be read.
 *
 *     calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, stream);
 *     pipeline(&on, input, output);
 *
 * The object must live until the call returns. Nothing in it is kept or released. */
typedef struct calotype_device_context {
    uint64_t magic;
    void *context;      /**< CUcontext, cl_context; null: the default one */
    void *stream;       /**< CUstream (null: the default stream), cl_command_queue */
    void *user_context; /**< the application's own */
    /** Whose context it is, as calotype_cuda_device_interface() answers: on others it is an error.
     * Null: the caller knows that only one kind of device is used. */
    const struct calotype_device_interface_t *device_interface;
} calotype_device_context;

#ifdef __cplusplus
#define CALOTYPE_DEVICE_CONTEXT(context, stream)                                                   \
    (calotype_device_context{CALOTYPE_DEVICE_CONTEXT_MAGIC, (context), (stream), nullptr, nullptr})
#else
#define CALOTYPE_DEVICE_CONTEXT(context, stream)                                                   \
    ((calotype_device_context){CALOTYPE_DEVICE_CONTEXT_MAGIC, (context), (stream), NULL, NULL})
#endif

/** The device context that a user context is, or null. */
extern const calotype_device_context *calotype_get_device_context(const void *user_context);

#ifdef __cplusplus
}
#endif
