/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Device memory: how much there is of it, how much may be taken and kept, and where it comes from.
 *
 * Every buffer's device memory comes from one allocator, in the order of the stream of the call
 * that allocates, and goes back to it in the order of the stream of the call that frees. A free
 * that names no stream, in a context where calls have named some, is ordered after all that was
 * queued in the context. The built-in allocator takes memory of one pool of the driver's for each
 * device, which keeps what is freed up to a limit. When memory runs out, everything that is idle on
 * the device is given back first: modules of all contexts and what the allocator keeps.
 */
#pragma once

#include <stdint.h>

#include "kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

struct calotype_device_interface_t;

/** Where memory is wanted or given back. */
typedef struct calotype_device_place {
    uint32_t size;  /**< of this structure */
    int32_t device; /**< its number, as the driver counts */
    /** CUcontext, current on the calling thread. Null in `free` and `trim`: there is none, and all
     * work that used the memory is done. */
    void *context;
    /** CUstream. What is allocated is used by what is queued there from now on; what is freed was
     * last used by what was queued there before. Null: the default stream. */
    void *stream;
    void *user_context; /**< the call's; null where there is no call */
} calotype_device_place;

/** An allocator. Its functions may be called on many threads at once, and may not call pipelines.
 * An exception that they throw is the error CALOTYPE_E_DEVICE. */
typedef struct calotype_device_allocator {
    uint32_t size; /**< of this structure */
    void *self;
    /** Answers CALOTYPE_E_OOM if there is no memory: it is asked once more after idle memory has
     * been given back. Addresses are multiples of calotype_device_alignment. */
    calotype_status (*allocate)(void *self, const calotype_device_place *place, uint64_t bytes,
                                uint64_t *address);
    calotype_status (*free)(void *self, const calotype_device_place *place, uint64_t address,
                            uint64_t bytes);
    /** Give back what is kept for later beyond `keep` bytes. Null: nothing is kept. */
    void (*trim)(void *self, const calotype_device_place *place, uint64_t keep);
    /** How many bytes are kept for later. Null: none. */
    uint64_t (*kept)(void *self, int32_t device);
} calotype_device_allocator;

enum { calotype_device_alignment = 256 };

/** Take device memory from this allocator from now on; null: from the built-in one. What was
 * allocated before goes back where it came from, so `self` must live until that has happened.
 *
 *     calotype_device_allocator mine = {sizeof mine, &pool, take, give, NULL, NULL};
 *     calotype_set_device_allocator(calotype_cuda_device_interface(), &mine);
 *
 * CALOTYPE_E_INVALID: a function is missing, or devices of this kind have memory that has no
 * address (OpenCL). */
extern calotype_status
calotype_set_device_allocator(const struct calotype_device_interface_t *device_interface,
                              const calotype_device_allocator *allocator);

/** The limits of a device. */
typedef struct calotype_memory_limits {
    uint32_t size;  /**< of this structure */
    int32_t device; /**< its number; -1: all devices */
    /** Bytes in use and kept together, beyond which allocating is CALOTYPE_E_OOM; 0: no limit. */
    uint64_t bytes;
    /** Bytes that the built-in allocator keeps for later; CALOTYPE_KEEP_DEFAULT: an eighth of the
     * device's memory. */
    uint64_t kept_bytes;
} calotype_memory_limits;
#define CALOTYPE_KEEP_DEFAULT UINT64_MAX

extern calotype_status
calotype_set_memory_limits(const struct calotype_device_interface_t *device_interface,
                           const calotype_memory_limits *limits);

/** What the runtime has of a device's memory, in bytes where nothing else is said. */
typedef struct calotype_memory_stats {
    uint32_t size;     /**< of this structure; fields beyond it are not written */
    uint32_t pieces;   /**< allocations in use */
    uint64_t in_use;   /**< by buffers */
    uint64_t kept;     /**< for later, by the allocator */
    uint64_t peak;     /**< of in_use */
    uint64_t deferred; /**< freed, but goes with the next call for memory in its context; part of
                          neither in_use nor kept */
    uint64_t allocations, frees; /**< how many there were; of failed ones none is counted */
    uint64_t retries;            /**< allocations for which idle memory was given back first */
} calotype_memory_stats;

/** Of one device, or of all with -1. Set stats->size first. */
extern calotype_status
calotype_get_memory_stats(const struct calotype_device_interface_t *device_interface,
                          int32_t device, calotype_memory_stats *stats);

#ifdef __cplusplus
}
#endif
