/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Device code of generated objects: the static description that each object carries, and the calls
 * that generated code makes to hold and launch it. docs/kernel_cache.md tells the whole story.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "device_interface.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Version of the structures below; each starts with it or with its size. */
#ifndef CALOTYPE_ABI_VERSION
#define CALOTYPE_ABI_VERSION 1u
#endif

typedef enum calotype_status {
    CALOTYPE_OK = 0,
    CALOTYPE_E_INVALID,      /**< an argument makes no sense */
    CALOTYPE_E_NO_IMAGE,     /**< nothing embedded runs on this device */
    CALOTYPE_E_COMPILE,      /**< device code does not compile */
    CALOTYPE_E_LINK,         /**< device code does not link */
    CALOTYPE_E_LOAD,         /**< the driver refuses to load it */
    CALOTYPE_E_OOM,          /**< out of host or device memory */
    CALOTYPE_E_SETUP,        /**< the setup of a linkable failed */
    CALOTYPE_E_TEARDOWN,     /**< the teardown of a linkable failed */
    CALOTYPE_E_BUSY,         /**< held */
    CALOTYPE_E_CLOSING,      /**< the context is being released */
    CALOTYPE_E_REENTRANT,    /**< a callback asked for the module that it sets up */
    CALOTYPE_E_DEADLOCK,     /**< waiting would close a circle */
    CALOTYPE_E_UNDERFLOW,    /**< more finalizes than initializes */
    CALOTYPE_E_CONTEXT_LOST, /**< the context is gone */
    CALOTYPE_E_TIMEOUT,
    CALOTYPE_E_ABI,     /**< the object was generated for another version of the runtime */
    CALOTYPE_E_CAPTURE, /**< would block or unload while a stream is captured */
    CALOTYPE_E_DEVICE,  /**< no driver, no device, or the driver reports a failure */
    CALOTYPE_E_LAUNCH   /**< the launch is beyond what kernel or device allow */
} calotype_status;

typedef enum calotype_stage {
    CALOTYPE_ST_NONE,
    CALOTYPE_ST_DISK,
    CALOTYPE_ST_COMPILE,
    CALOTYPE_ST_LINK,
    CALOTYPE_ST_LOAD,
    CALOTYPE_ST_RELOC,
    CALOTYPE_ST_NRT,
    CALOTYPE_ST_SETUP,
    CALOTYPE_ST_TEARDOWN,
    CALOTYPE_ST_UNLOAD,
    CALOTYPE_ST_LAUNCH
} calotype_stage;

/** The last error of the calling thread; valid until its next call of the runtime. */
typedef struct calotype_error_info {
    uint32_t size;
    calotype_status status;
    calotype_stage stage;
    int32_t driver_result;   /**< what the driver's call answered */
    int32_t callback_rc;     /**< what the callback answered */
    int32_t linkable_index;  /**< -1: none */
    const char *module_name; /**< "" if none */
    const char *linkable_name;
    const char *log; /**< the whole log of compiler or linker, or a sentence; never null */
} calotype_error_info;
extern const calotype_error_info *calotype_last_error(void);
/** "out of memory": a few words, never null. */
extern const char *calotype_status_text(calotype_status status);

/** SHA-256 of content; never a counter or an address. */
typedef struct calotype_uid {
    uint8_t b[32];
} calotype_uid;

typedef enum calotype_kind {
    CALOTYPE_PTX = 1,
    CALOTYPE_CUBIN,
    CALOTYPE_FATBIN,
    CALOTYPE_OBJECT,
    CALOTYPE_ARCHIVE,
    CALOTYPE_LTOIR,
    CALOTYPE_CU,
    CALOTYPE_OPENCL_C,
    CALOTYPE_BITCODE,
    CALOTYPE_HOST_ONLY
} calotype_kind;

/** Device code in one form. Text ends in a NUL that `size` does not count. */
typedef struct calotype_image {
    calotype_kind kind;
    uint32_t sm; /**< 90 for compute capability 9.0; 0: not for one architecture */
    char suffix; /**< 0, 'a' or 'f' */
    const void *data;
    size_t size;
} calotype_image;

/** One argument of a kernel. */
typedef struct calotype_kernel_arg {
    uint8_t is_buffer; /**< the value is calotype_buffer_t::device, 8 bytes */
    uint8_t bytes;     /**< of the value */
    uint8_t is_image;  /**< a buffer in texture memory */
    uint8_t written;   /**< a buffer that the kernel stores to */
} calotype_kernel_arg;

/** Bits of calotype_kernel_desc::flags. */
enum {
    /** OpenCL: the last parameter, not among `args`, is `__local ulong16 *`, the dynamic shared
     * memory. Every buffer parameter is `__global uchar *` followed by `ulong`, the offset in bytes
     * of the element at the mins. */
    CALOTYPE_KERNEL_DYNAMIC_SHARED = 1u,
    /** OpenCL, code of other generators: a buffer is one `__global` parameter, and there may be one
     * `__local` parameter after all others, the dynamic shared memory. */
    CALOTYPE_KERNEL_PLAIN_BUFFERS = 2u
};

/** One kernel of a module. */
typedef struct calotype_kernel_desc {
    const char *name;
    const calotype_kernel_arg *args;
    uint32_t n_args;
    uint32_t max_threads;         /**< of a block, 0: not known when it was compiled */
    uint32_t static_shared_bytes; /**< of a block, fixed in the code */
    uint32_t flags;               /**< CALOTYPE_KERNEL_ */
} calotype_kernel_desc;

struct calotype_linkable_desc; /* linkables.h */

/** Written once its module is loaded: the value at `symbol` plus `offset` becomes *value. */
typedef struct calotype_reloc {
    const char *symbol;
    uint64_t offset;
    uint32_t bytes;
    const void *value;
} calotype_reloc;

enum {
    CALOTYPE_MOD_NRT = 1u,
    CALOTYPE_MOD_LTO = 2u,
    CALOTYPE_MOD_LINEINFO = 4u,
    CALOTYPE_MOD_DEBUG = 8u,
    CALOTYPE_MOD_SESSION_DEPENDENT = 16u /**< never written to the persistent store */
};

/** The device code of one generated object for one kind of device: constant data. */
typedef struct calotype_module_desc {
    uint32_t size;
    uint32_t abi; /**< CALOTYPE_ABI_VERSION of the generator */
    const char *name;
    calotype_uid uid; /**< of all that follows: equal code is one module */
    /** The kind of device, as calotype_cuda_device_interface. */
    const calotype_device_interface_t *(*device_interface)(void);
    const calotype_image *images;
    uint32_t n_images;
    const calotype_kernel_desc *kernels;
    uint32_t n_kernels;
    const struct calotype_linkable_desc *const *linkables;
    uint32_t n_linkables;
    const calotype_reloc *relocs;
    uint32_t n_relocs;
    uint32_t flags;
    int32_t max_registers; /**< 0: the compiler's choice */
    int32_t opt_level;
} calotype_module_desc;

/** Opaque; its memory is never given back before calotype_shutdown. */
typedef struct calotype_entry calotype_entry;
/** A module held in one context. All zero: none. */
typedef struct calotype_hold {
    calotype_entry *entry;
    uint64_t generation;
} calotype_hold;

/** Hold the module in the context of this call, loading it if need be. On success *out is a hold
 * which must be given back exactly once, on any thread; else *out is all zero. */
extern calotype_status calotype_initialize_kernels(void *user_context,
                                                   const calotype_module_desc *desc,
                                                   void *call_site_slot, calotype_hold *out);
/** Give a hold back. The module stays cached. *hold becomes all zero. */
extern calotype_status calotype_finalize_kernels(void *user_context, calotype_hold *hold);
/** Give a hold back once the stream has done what is queued on it now. */
extern calotype_status calotype_finalize_kernels_after(void *user_context, calotype_hold *hold,
                                                       void *stream);
/** One more hold of the same module, for CUDA graphs and for those who keep its functions. */
extern calotype_status calotype_pin(calotype_hold hold, calotype_hold *out);
extern calotype_status calotype_unpin(calotype_hold *hold);

/** Queue kernel number `kernel` of the module. `args[i]` points at the value of argument i. A null
 * stream is the one of this call's context. Does not wait. */
extern calotype_status calotype_launch(void *user_context, calotype_hold hold, uint32_t kernel,
                                       const uint32_t grid[3], const uint32_t block[3],
                                       uint32_t dynamic_shared_bytes, void *stream, void **args);

/** @name What generated code calls
 * The same calls with errors reported through calotype_error() and answered as error codes. */
/**@{*/
extern int calotype_begin_kernels(void *user_context, const calotype_module_desc *desc,
                                  calotype_hold *out);
/** `shape` is grid x, y, z, block x, y, z, dynamic shared bytes. An empty grid launches nothing. */
extern int calotype_run_kernel(void *user_context, const calotype_hold *hold, uint32_t kernel,
                               const int32_t shape[7], void **args);
extern void calotype_end_kernels(void *user_context, void *hold);
/** CUDA: before the launch of a kernel that copies rectangles of a buffer into shared memory by the
 * tensor memory unit (compute capability 9.0). Describes the buffer, which is on the device, in 128
 * bytes at `map`, for rectangles of `width` elements of dimension 0, 128 bytes at most, by `height` of
 * another dimension, 256 at most. It has 2 to 5 dimensions and elements of 1, 2 or 4 bytes that are
 * next to each other in dimension 0; its address and the strides of other dimensions are multiples of
 * 16 bytes. Returns 0 or an error code; errors are reported. */
extern int calotype_cuda_describe_tiles(void *user_context, const struct calotype_buffer_t *buf,
                                        int32_t width, int32_t height, int32_t dimension,
                                        void *map);
/** Report calotype_last_error() for `status` and answer its error code. */
extern int calotype_report_status(void *user_context, calotype_status status);
/**@}*/

#ifdef __cplusplus
}
#endif
