/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Control of the kernel cache: one table a process, keyed on (context, module id), for all kinds of
 * devices. All functions may be called on any number of threads.
 *
 * What means a context takes a calotype_device_context, as calls of pipelines do; null is the
 * default context. A driver's own handle in its place does not compile.
 *
 *     calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, NULL);
 *     calotype_release_context(&on, CALOTYPE_REL_WAIT, 1000);
 *     cuCtxDestroy(context);
 */
#pragma once

#include "device_context.h"
#include "kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @name Ahead of time and out again */
/**@{*/
/** Start loading modules on threads of the runtime. *ticket, if not null, is for the wait. `on`
 * must live until the modules are loaded. A library that has prefetched stays in memory. */
extern calotype_status calotype_prefetch(const calotype_device_context *on,
                                         const calotype_module_desc *const *descs, uint32_t n,
                                         uint32_t flags, void **ticket);
/** Wait for a prefetch and end its ticket, unless the answer is CALOTYPE_E_TIMEOUT. */
extern calotype_status calotype_prefetch_wait(void *ticket, uint32_t timeout_ms);

enum { CALOTYPE_EVICT_DEFER = 1u, CALOTYPE_EVICT_IMAGE_TOO = 2u };
/** Unload a module: CALOTYPE_E_BUSY if held, or later with CALOTYPE_EVICT_DEFER. */
extern calotype_status calotype_evict(const calotype_device_context *on,
                                      const calotype_module_desc *desc, uint32_t flags);
/** Unload idle modules of the context until it holds target_bytes. */
extern calotype_status calotype_trim(const calotype_device_context *on, uint64_t target_bytes,
                                     uint64_t *freed);
/** Try again what failed for good. */
extern calotype_status calotype_forget(const calotype_module_desc *desc);

typedef enum calotype_release_policy {
    CALOTYPE_REL_BUSY, /**< refuse if anything is held */
    CALOTYPE_REL_WAIT, /**< wait for holds */
    CALOTYPE_REL_FORCE /**< tear down although held; late finalizes are orphans */
} calotype_release_policy;
/** Unload all modules of the context and give back what the runtime has in it; its identity ends.
 * The context itself is its owner's, who releases it before destroying it: after that nothing is
 * asked of the driver about it. Buffers that are still in it may be freed later. A call that names
 * it once more meets it anew. One that is refused changes nothing for other threads. */
extern calotype_status calotype_release_context(const calotype_device_context *on,
                                                calotype_release_policy policy,
                                                uint32_t timeout_ms);
/** Tell that a context was destroyed: its modules are forgotten without a call of the driver. */
extern calotype_status calotype_context_lost(uint64_t ctx_uid);
/** Release all contexts, newest first. Prefetches end with the modules that they have begun with;
 * who has the ticket of one gets CALOTYPE_E_CLOSING for the others. */
extern calotype_status calotype_shutdown(uint32_t timeout_ms);
/** The identity under which the cache knows the context of this call. */
extern calotype_status calotype_context_uid(const calotype_device_context *on,
                                            const calotype_device_interface_t *device_interface,
                                            uint64_t *ctx_uid);
/**@}*/

typedef enum calotype_policy {
    CALOTYPE_POLICY_LRU,
    CALOTYPE_POLICY_COST, /**< least compile time * hits / bytes first, of equals as LRU */
    CALOTYPE_POLICY_NONE
} calotype_policy;
/** 0 is unlimited. The first two are of each context, image_bytes of the process. compile_threads
 * is how many threads may be in the built-in compile step at once; compile hooks are not counted.
 * What exceeds them in a context when they are set goes with the next calls there. */
typedef struct calotype_limits {
    uint32_t size;
    calotype_policy policy;
    uint64_t ctx_bytes, ctx_modules, image_bytes;
    uint32_t compile_threads;
} calotype_limits;
extern calotype_status calotype_set_limits(const calotype_limits *limits);
extern calotype_status calotype_get_limits(calotype_limits *limits);

/** @name Persistent store */
/**@{*/
typedef struct calotype_store {
    uint32_t size;
    void *self;
    /** All answer 0 for success. `get` answers nonzero for "not there". */
    int (*get)(void *self, const calotype_uid *key, void **bytes, size_t *n);
    int (*put)(void *self, const calotype_uid *key, const void *bytes, size_t n);
    int (*del)(void *self, const calotype_uid *key);
    void (*free_bytes)(void *self, void *bytes);
} calotype_store;
/** Null: the directory store again. Calls that have begun when it is replaced may still run then,
 * as of all hooks here, so what `self` points at lives until calotype_shutdown() or no call of a
 * pipeline is under way any more. */
extern calotype_status calotype_set_store(const calotype_store *store);
enum { CALOTYPE_STORE_READ_ONLY = 1u, CALOTYPE_STORE_OFF = 2u };
/** max_bytes 0: 2 GiB. */
extern calotype_status calotype_set_store_dir(const char *path, uint64_t max_bytes, uint32_t flags);
/** The key under which the module's loadable image is kept for the device of this call. */
extern calotype_status calotype_image_key(const calotype_device_context *on,
                                          const calotype_module_desc *desc, calotype_uid *out);
/**@}*/

/** Replace the compile step: from a module to bytes that the driver loads (malloc'ed, as is *log,
 * which may stay null). `version_for_key` becomes part of the image key. Null: the
 * built-in step. It may use the cache for other modules, and wait for threads that do, whatever
 * calotype_limits::compile_threads says: how many hooks run at once is the application's to limit.
 */
typedef calotype_status (*calotype_compile_fn)(void *self, const calotype_module_desc *desc,
                                               uint32_t sm, char suffix, void **image, size_t *n,
                                               char **log);
extern calotype_status calotype_set_compile_hook(calotype_compile_fn hook, void *self,
                                                 const char *version_for_key);

/** @name Observation */
/**@{*/
/** Monotonic except live_*, image_bytes and holds. */
typedef struct calotype_stats {
    uint32_t size, reserved;
    uint64_t misses, hits, waits, negative_hits, compiles, links, loads, unloads, setups, setups_ok,
        teardowns, teardown_errors, evictions, over_limit, oom_retries, lto_missed, disk_hits,
        disk_misses, disk_writes, disk_corrupt, disk_evictions, failures, orphans, misuse,
        live_modules, live_bytes, image_bytes, holds, compile_ns, link_ns, load_ns, setup_ns,
        wait_ns;
    /** Of recordings: graphs made, launches of them, kernels in them that got new arguments. */
    uint64_t graphs, graph_launches, graph_updates;
} calotype_stats;
/** Of one context, or of the process with ctx_uid 0. Set stats->size first; fields beyond it are
 * not written. */
extern calotype_status calotype_get_stats(uint64_t ctx_uid, calotype_stats *stats);
extern calotype_status calotype_reset_stats(void);

typedef struct calotype_trace_event {
    uint32_t size;
    calotype_stage stage;
    uint64_t ctx_uid, begin_ns, end_ns;
    calotype_uid uid;
    calotype_status status;
    const char *module_name; /**< valid during the call */
} calotype_trace_event;
/** Told of each slow step when it ends, on the thread that took it. */
typedef void (*calotype_trace_fn)(void *self, const calotype_trace_event *event);
extern calotype_status calotype_set_trace(calotype_trace_fn trace, void *self);

/** Print a line for what the runtime does: a list of cache (slow steps of the kernel cache), memory
 * (device copies of buffers), store (kept device code), launch, or all, with commas. Null: as the
 * environment says (CT_LOG), which is how it begins. */
extern void calotype_set_log(const char *topics);

/** A module that is loaded. */
typedef struct calotype_module_info {
    uint32_t size;
    uint32_t n_kernels;
    const char *name; /**< valid during the call */
    calotype_uid uid;
    uint64_t ctx_uid, bytes, holds, hits;
} calotype_module_info;
typedef void (*calotype_module_fn)(void *self, const calotype_module_info *module);
/** Call f for each module that is loaded in a context, or in any with ctx_uid 0, as it was when
 * this was called: the newest of a context first. f may use the cache. */
extern calotype_status calotype_enumerate_modules(uint64_t ctx_uid, calotype_module_fn f,
                                                  void *self);

/** Show slow steps and calls of pipelines with kernels as ranges of NVTX, by this library or, with
 * null, the usual ones (libnvtx3interop.so.1, libnvToolsExt.so.1), as CT_NVTX does. For good;
 * CALOTYPE_E_INVALID if it cannot be loaded. Without either nothing is searched for. */
extern calotype_status calotype_use_nvtx(const char *library);
/**@}*/

#ifdef __cplusplus
}
#endif
