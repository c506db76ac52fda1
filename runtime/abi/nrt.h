/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The device runtime, host side: its heap and its counters, of each context on its own.
 * docs/device_runtime.md tells what it is.
 */
#pragma once

#include "kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/** On the device, one of each context; the variable TheMSys of each module points at it. All words
 * are changed by atomic additions. */
typedef struct calotype_nrt_memsys {
    uint64_t enabled;
    uint64_t alloc, free_, mi_alloc, mi_free, alloc_bytes, free_bytes, failed;
} calotype_nrt_memsys;

/** Since statistics were enabled or reset. */
typedef struct calotype_nrt_stats {
    uint32_t size, enabled;
    uint64_t alloc;       /**< blocks given out */
    uint64_t free_;       /**< blocks given back */
    uint64_t mi_alloc;    /**< objects begun */
    uint64_t mi_free;     /**< objects destroyed */
    uint64_t alloc_bytes; /**< of `alloc`, as asked for, objects with their MemInfo */
    uint64_t free_bytes;
    uint64_t failed; /**< blocks that there was no memory for */
} calotype_nrt_stats;

/** The bytes of device memory out of which kernels in the context of this call allocate. To be set
 * before the context loads the first module with the device runtime: later it is CALOTYPE_E_BUSY,
 * for as long as the context lives. */
extern calotype_status calotype_nrt_set_heap(void *user_context, uint64_t bytes);
/** Whether kernels count; off at first. Takes effect after what is queued on the stream of the
 * call. What was allocated while it was off is not seen when it is freed, so counts may then not
 * match. */
extern calotype_status calotype_nrt_enable_stats(void *user_context, int on);
/** The counts after what is queued on the stream of the call; kernels on other streams may go on
 * counting. Set stats->size first. CALOTYPE_E_INVALID while statistics are off. */
extern calotype_status calotype_nrt_read(void *user_context, calotype_nrt_stats *stats);
/** All counts 0. */
extern calotype_status calotype_nrt_reset(void *user_context);

#ifdef __cplusplus
}
#endif
