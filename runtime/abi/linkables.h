/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Linkables: device code from elsewhere that generated kernels call, with host functions that run
 * when a module that holds it has been loaded and before it is unloaded.
 */
#pragma once

#include "kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum calotype_event { CALOTYPE_EV_SETUP = 1, CALOTYPE_EV_TEARDOWN = 2 } calotype_event;

/** Why a callback is called. */
typedef enum calotype_reason {
    CALOTYPE_R_LOAD,
    CALOTYPE_R_EVICT,
    CALOTYPE_R_CONTEXT_RELEASE,
    CALOTYPE_R_SHUTDOWN,
    CALOTYPE_R_EXIT,
    CALOTYPE_R_SETUP_FAILED,
    CALOTYPE_R_CONTEXT_LOST
} calotype_reason;

struct calotype_callback_args;
/** 0: success; anything else: failure. */
typedef int (*calotype_module_callback)(const struct calotype_callback_args *args);

/** What a callback can ask of the module; valid only while it runs. */
typedef struct calotype_services {
    uint32_t size;
    calotype_status (*get_global)(const struct calotype_callback_args *args, const char *name,
                                  uint64_t *address, size_t *bytes);
    calotype_status (*copy_to_global)(const struct calotype_callback_args *args, const char *name,
                                      size_t offset, const void *source, size_t bytes);
    calotype_status (*get_function)(const struct calotype_callback_args *args, const char *name,
                                    void **function);
    /** The text for calotype_error_info::log, copied. */
    calotype_status (*set_error)(const struct calotype_callback_args *args, const char *text);
} calotype_services;

typedef struct calotype_callback_args {
    uint32_t size;
    uint32_t abi;
    calotype_event event;
    calotype_reason reason;
    void *user_context;
    void *ctx;        /**< CUcontext, current on this thread; cl_context */
    uint64_t ctx_uid; /**< identity of the context, never used again */
    int32_t device;
    void *module; /**< CUmodule, cl_program; null after the loss of the context */
    void *stream; /**< work queued here is done before any launch */
    const calotype_module_desc *desc;
    const struct calotype_linkable_desc *self;
    uint32_t linkable_index;
    void *user;
    void **instance; /**< a slot of each (context, module, linkable): setup fills, teardown reads */
    const calotype_services *svc;
} calotype_callback_args;

enum {
    CALOTYPE_LK_NRT = 1u,
    CALOTYPE_LK_LTO_REQUIRED = 2u,
    CALOTYPE_LK_LTO_NEVER = 4u,
    CALOTYPE_LK_OPTIONAL = 8u,
    CALOTYPE_LK_THREADSAFE = 16u,
    CALOTYPE_LK_SESSION_DEPENDENT = 32u, /**< never written to the persistent store */
    CALOTYPE_LK_NO_TEARDOWN_AFTER_LOSS = 64u,
    CALOTYPE_LK_BY_PATH = 128u /**< images' data point at calotype_file_image */
};

/** An image that stays in its file, which is read when it is needed and must not have changed. */
typedef struct calotype_file_image {
    const char *path;
    calotype_uid digest; /**< SHA-256 of the file */
} calotype_file_image;

typedef struct calotype_linkable_desc {
    uint32_t size;
    uint32_t flags;
    const char *name;
    calotype_uid content;
    const calotype_image *images;
    uint32_t n_images;
    calotype_module_callback setup;    /**< may be null */
    calotype_module_callback teardown; /**< may be null */
    void *user;
    const uint16_t *after; /**< indices of linkables of the same module that are set up first */
    uint32_t n_after;
} calotype_linkable_desc;

#ifdef __cplusplus
}
#endif
