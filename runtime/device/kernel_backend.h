// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The interface of a device back end to the kernel cache: a table of functions, found through
// calotype_device_interface_impl_t::kernels. The cache keeps states, counts and keys; a back end
// knows its driver. No function here that could call the driver is called with a lock of the cache
// held.
#pragma once

#include <atomic>
#include <stddef.h>
#include <stdint.h>

#include "runtime/abi/buffer.h"
#include "runtime/abi/device_memory.h"
#include "runtime/abi/kernel_cache.h"
#include "runtime/abi/linkables.h"
#include "runtime/host/text.h"

namespace calotype::runtime {

/** The context of one call, as a back end found it from the user context. */
struct DeviceScope {
    void *user_context;
    void *context;         ///< CUcontext, cl_context
    uint64_t context_uid;  ///< never recycled; unique over all back ends; not 0
    void *stream;          ///< where the call's work goes: CUstream, cl_command_queue
    int32_t device;
    void *extra;  ///< the back end's own
};

/** For which hardware and by which tools an image is made: part of its key. */
struct DeviceArch {
    uint32_t sm;          ///< 90; 0 where there is no such number
    char suffix;          ///< 'a' where exact-architecture code may be used
    char toolchain[192];  ///< what made the image: linker and version, or platform, device, driver
};

/** An image that load() takes: bytes on the heap of malloc, or constant data of the object. */
struct LoadableImage {
    calotype_kind kind;
    const void *bytes;
    size_t size;
    bool owned;        ///< free() it
    bool persistable;  ///< made by tools whose version is in DeviceArch::toolchain, and worth
                       ///< keeping
    bool was_built;    ///< by compiling; false for an embedded image taken as it is
    bool was_linked;   ///< with linkables
    bool lto_missed;   ///< a linkable has LTO-IR, but kernels were not inlined into: counted

    /** What it took to make it, here or in the process that stored it. */
    uint64_t compile_ns;
};

/** A launch that is done later, with others. */
struct RecordedLaunch {
    void *function;  ///< what get_function gave
    const calotype_kernel_desc *kernel;
    uint32_t index;  ///< of the kernel in its module
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared_bytes;
    uint32_t first_value;  ///< of its arguments' in LaunchList::values
};
/** Launches of one module, in order. */
struct LaunchList {
    const RecordedLaunch *launches;
    uint32_t n;
    uint64_t *values;  ///< one for each argument, in its first bytes
};
struct ReplayCounts {
    uint32_t made;     ///< graphs
    uint32_t updated;  ///< kernels in a graph that got new arguments or another shape
};

/** What the device runtime (cache/nrt.h) needs where kernels can allocate memory. Called between
 * enter and leave. */
struct DeviceHeap {
    calotype_status (*allocate)(const DeviceScope &scope, size_t bytes, uint64_t *address);
    calotype_status (*deallocate)(const DeviceScope &scope, uint64_t address);
    calotype_status (*copy_to_host)(const DeviceScope &scope, void *destination, uint64_t address,
                                    size_t bytes);
    /** How much memory kernels of the context can allocate. CALOTYPE_E_BUSY: it is too late. */
    calotype_status (*set_size)(const DeviceScope &scope, uint64_t bytes);
};

/** Device memory under the application's control: the functions of abi/device_memory.h. */
struct DeviceMemoryControl {
    calotype_status (*set_allocator)(const calotype_device_allocator *allocator);
    calotype_status (*set_limits)(const calotype_memory_limits &limits);
    /** Add what one device has, or all with -1. */
    void (*add_stats)(int32_t device, calotype_memory_stats *stats);
};

/** Functions that fail answer a status and tell why with set_failure() (failure.h).
 *
 * The cache keeps a copy of the scope that it first meets a context with, its user_context and
 * stream null, and gives that to enter, unload, synchronize and leave when modules go for reasons
 * that no call has: limits, shutdown, exit. */
struct alignas(64) KernelBackend {
    const char *name;  ///< "CUDA"

    // What each call of a warm kernel needs, in one cache line.

    /** Find the context of a call; makes nothing current; the warm path is a few ns. `release` ends
     * what acquire began; null where there is nothing to end. A user context that is one of another
     * API is CALOTYPE_E_INVALID. */
    calotype_status (*acquire)(void *user_context, DeviceScope *scope);
    void (*release)(const DeviceScope &scope);
    /** The whole of a warm launch of a module that is held, where nothing has to be found out for
     * it: `held` is the scope of its context, without user context and stream. False: it has not
     * been launched, and the functions below launch it or say why not. Null: they cost no more. */
    bool (*launch_at_once)(void *user_context, const DeviceScope &held, void *function,
                           const uint32_t grid[3], const uint32_t block[3],
                           uint32_t dynamic_shared_bytes, void *stream, void **args) = nullptr;
    /** acquire for a launch of a module that is held: `held` is the scope of its context, without
     * user context and stream. That context is there, so its identity need not be asked for. Null:
     * acquire costs no more. */
    calotype_status (*acquire_held)(void *user_context, const DeviceScope &held,
                                    DeviceScope *scope) = nullptr;
    /** Which capture the stream (null: the scope's) is in, a number not used again; 0: none. Asked
     * before every launch, without enter. Null: the driver does not tell when graphs go. */
    uint64_t (*capture_of)(const DeviceScope &scope, void *stream) = nullptr;
    /** Launch; `function` is what get_function gave. */
    calotype_status (*launch)(const DeviceScope &scope, void *function,
                              const calotype_kernel_desc &kernel, const uint32_t grid[3],
                              const uint32_t block[3], uint32_t dynamic_shared_bytes, void *stream,
                              void **args);

    /** Whether calls have named any context that has not ended, also if nothing was loaded there.
     * Null: what the cache has met is all. */
    bool (*has_any)() = nullptr;
    /** Whether there is a context for the user context without one being made. Null: acquire()
     * makes none. */
    bool (*has_context)(void *user_context) = nullptr;
    /** Make the context current on this thread, and what was current before current again. Calls
     * nest: a module may go while another is loaded. */
    calotype_status (*enter)(const DeviceScope &scope);
    void (*leave)(const DeviceScope &scope);
    /** Whether the identity has not ended. Asks no driver. */
    bool (*is_alive)(uint64_t context_uid);
    /** Whether the context is there as long as the runtime wants it, so that the driver may be
     * called for it when nobody names it: one that the runtime made or retained. */
    bool (*is_own)(uint64_t context_uid);
    /** Wait for all work of the context until now_ns() reaches the deadline; false: it goes on.
     * Without enter. Null: synchronize() has to do. */
    bool (*await_idle)(const DeviceScope &scope, uint64_t deadline_ns);
    /** The identity ends: acquire answers it no more, also where the context is named again. With a
     * driver, what the back end has in the context goes. Without one nothing is asked about it.
     * Without enter. */
    void (*end_context)(uint64_t context_uid, bool has_driver);

    /** All but the toolchain: cheap. */
    calotype_status (*describe)(const DeviceScope &scope, DeviceArch *arch);
    /** For messages: "NVIDIA H200 (sm_90), driver 13.0". Null: it has no name. */
    void (*name_device)(const DeviceScope &scope, Text &text);
    /** Whether build() will take an embedded image as it is, so that there is nothing to look up in
     * the persistent store or to keep there, nor a key to make. Null: never. */
    bool (*is_ready)(const DeviceArch &arch, const calotype_module_desc &desc);
    /** Fill in arch->toolchain, for keys. May load a library (nvJitLink takes 5 ms), so it is not
     * called where is_ready() holds. Null: describe() has done it. */
    void (*describe_tools)(const DeviceScope &scope, DeviceArch *arch);
    /** Choose, compile and link: no context needs to be current. */
    calotype_status (*build)(const DeviceScope &scope, const DeviceArch &arch,
                             const calotype_module_desc &desc, LoadableImage *image);
    /** The rest is called between enter and leave. */
    calotype_status (*load)(const DeviceScope &scope, const calotype_module_desc &desc,
                            const LoadableImage &image, void **module);
    calotype_status (*unload)(const DeviceScope &scope, void *module);
    calotype_status (*get_function)(const DeviceScope &scope, void *module, const char *name,
                                    void **function);
    /** The end of a function, in two steps, since another thread may be launching it when a release
     * is forced. close: before the unload; what it has of the driver goes, without a call of the
     * driver if that has gone, and launches are refused from then on. free: its memory, when nobody
     * holds the module any more; without enter and with the cache's lock held. Null: nothing to do.
     */
    void (*close_function)(void *function, bool has_driver);
    void (*free_function)(void *function);
    calotype_status (*get_global)(const DeviceScope &scope, void *module, const char *name,
                                  uint64_t *address, size_t *bytes);
    calotype_status (*copy_to_device)(const DeviceScope &scope, uint64_t address,
                                      const void *source, size_t bytes);
    calotype_status (*synchronize)(const DeviceScope &scope);

    /** Events for holds that end with a stream. query: OK, or CALOTYPE_E_BUSY if not yet. The last
     * two are called without enter. */
    calotype_status (*record_event)(const DeviceScope &scope, void *stream, void **event);
    calotype_status (*query_event)(void *event);
    void (*destroy_event)(void *event);
    /** Whether work on the stream (null: the scope's) is being recorded into a graph. Null: never;
     * called without enter. */
    bool (*is_capturing)(const DeviceScope &scope, void *stream);

    /** Graphs: several launches that are one for the driver. Null: there are none.
     * can_replay: whether it pays to record. replay: launch all of the list, or nothing and answer
     * false: then the launches are done one by one, and say what is wrong. *graphs is the module's,
     * null at first; close_graphs and free_graphs end it, as functions are ended. */
    bool (*can_replay)() = nullptr;
    bool (*replay)(const DeviceScope &scope, std::atomic<void *> *graphs, const LaunchList &list,
                   ReplayCounts *counts) = nullptr;
    void (*close_graphs)(std::atomic<void *> *graphs, bool has_driver) = nullptr;
    void (*free_graphs)(void *graphs) = nullptr;
    /** Let device memory that was freed in a recording serve another buffer of it: *handle is then
     * its address. False: it does not fit. */
    bool (*reuse_memory)(const DeviceScope &scope, uint64_t freed, const calotype_buffer_t &buf,
                         uint64_t *handle) = nullptr;

    /** Null: device memory has no addresses, which an allocator of the application could give. */
    const DeviceMemoryControl *memory = nullptr;

    /** Null: kernels cannot allocate memory. */
    const DeviceHeap *heap = nullptr;

    /** Call ended(data) once, when the graph that the stream is captured into and all made of it
     * have gone, or at once if this fails; on any thread, where the driver must not be called.
     * Called without enter. */
    calotype_status (*tie_to_graph)(const DeviceScope &scope, void *stream, void (*ended)(void *),
                                    void *data) = nullptr;

    /** The end of what acquire began. */
    void end(const DeviceScope &scope) const {
        if (release) {
            release(scope);
        }
    }
    bool captures(const DeviceScope &scope, void *stream = nullptr) const {
        return is_capturing && is_capturing(scope, stream);
    }
};

/** The cache is to ask this back end about contexts, also if nothing is loaded in any. */
void know_backend(const KernelBackend &backend);

/** An identity for a context that is met: counted up, never used again. */
uint64_t new_context_uid();

/** Unload what is idle in all contexts of a device, to make room there; the call is that of the
 * scope. Contexts in which a stream is captured are left alone. */
void trim_device(const KernelBackend &backend, int32_t device, const DeviceScope &scope);

/** calotype_release_context() with CALOTYPE_REL_WAIT for the context that this back end finds from
 * the user context, whatever others make of that. */
calotype_status release_context_of(const KernelBackend &backend, void *user_context,
                                   uint32_t timeout_ms);

/** The back end's driver answers every call in that context with an error from now on, as CUDA does
 * once a kernel has accessed what it may not: nobody gets a hold there any more, and callbacks are
 * told that the context is lost. */
void context_has_failed(uint64_t context_uid);

}  // namespace calotype::runtime
