/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The cache behind memoize(): results of Funcs, kept for later calls of any pipeline of the
 * process, least recently used ones dropped first. Their memory is of calotype_malloc and
 * calotype_free with a null user context, since it outlives the call that asked for it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct calotype_buffer_t;

/** Bytes that the cache may hold from now on; 0 brings back the default of 1 MiB. Results are dropped
 * to make room when another one is stored, but for those in use: what was stored last stays, however
 * large, and so does what was in use then. */
extern void calotype_memoization_cache_set_size(int64_t size);

/** Find the result for a key. `realized_bounds` carries the region in question, `tuple_buffers` one
 * buffer for each value of the Func, with type and shape of what is wanted.
 *  0: found; the buffers' host fields point into the cache.
 *  1: not found; the host fields point to fresh memory, to be filled and then given to
 *     calotype_memoization_cache_store.
 * negative: an error code.
 * In the first two cases each host pointer is to be given to calotype_memoization_cache_release. */
extern int calotype_memoization_cache_lookup(void *user_context, const uint8_t *cache_key,
                                             int32_t size,
                                             struct calotype_buffer_t *realized_bounds,
                                             int32_t tuple_count,
                                             struct calotype_buffer_t **tuple_buffers);

/** Enter a result that a lookup did not find. Returns 0 or an error code. */
extern int calotype_memoization_cache_store(void *user_context, const uint8_t *cache_key,
                                            int32_t size, struct calotype_buffer_t *realized_bounds,
                                            int32_t tuple_count,
                                            struct calotype_buffer_t **tuple_buffers,
                                            bool has_eviction_key, uint64_t eviction_key);

/** Drop every result that was stored with this eviction key. Those in use go when released. */
extern void calotype_memoization_cache_evict(void *user_context, uint64_t eviction_key);

/** The caller no longer uses a host pointer that a lookup gave it. */
extern void calotype_memoization_cache_release(void *user_context, void *host);

/** Drop everything. No pipeline may be using a result. */
extern void calotype_memoization_cache_cleanup(void);

#ifdef __cplusplus
}
#endif
