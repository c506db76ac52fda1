// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contexts: which one a call works in, and the identity by which the kernel cache knows it.
#pragma once

#include <atomic>

#include "runtime/device/kernel_backend.h"
#include "runtime/host/data/growing_array.h"
#include "runtime/host/fork_mutex.h"
#include "runtime/host/not_copied.h"
#include "runtime/opencl/types.h"

namespace calotype::runtime::opencl {

/** One device of one context, and what it says of itself. */
struct ContextFacts {
    cl_context context;
    cl_device_id device;
    cl_platform_id platform;
    cl_bitfield device_type;
    int32_t device_index;
    cl_uint devices_in_context;
    size_t max_group;
    size_t max_items[3];
    uint64_t local_bytes;
    uint64_t max_allocation;
    cl_bool has_images;
    size_t max_image2d[2], max_image3d[3];  ///< extents, x first
    char tools[768];                        ///< platform, device and version of the driver
};

/** What is kept of them, from when they are first met until the context ends. Its memory is used
 * again, with another id, but never given back. */
struct ContextRecord : ContextFacts {
    std::atomic<uint64_t> id;  ///< 0: ended
    bool ends_by_callback;     ///< the driver tells when the context ends
    /** OpenCL cannot wait for a context, so queues are kept from the first launch on each until no
     * module is loaded. */
    GrowingArray<cl_command_queue> queues;  ///< guarded by the next; null: an empty place
    ForkMutex queues_lock;
    std::atomic<uint32_t> modules;  ///< loaded
    ContextRecord *next;
};

/** Find the context of a call; `extra` of the scope is its record. With `create` false and no
 * context there, scope->context is null. On failure the cause is set. */
calotype_status acquire_scope(void *user_context, bool create, DeviceScope *scope);
void release_scope(const DeviceScope &scope);

inline ContextRecord &record_of(const DeviceScope &scope) {
    return *static_cast<ContextRecord *>(scope.extra);
}
inline cl_context context_of(const DeviceScope &scope) {
    return static_cast<cl_context>(scope.context);
}
inline cl_command_queue queue_of(const DeviceScope &scope) {
    return static_cast<cl_command_queue>(scope.stream);
}

/** A kernel is about to be launched on the queue. */
calotype_status note_queue(ContextRecord &record, cl_command_queue queue);
/** Wait for all queues that were noted. */
calotype_status finish_queues(ContextRecord &record);
/** KernelBackend::await_idle: the same until the deadline, or for some seconds where the device's work
 * is done by threads of this process. */
bool await_queues(const DeviceScope &scope, uint64_t deadline_ns);
/** They are not waited for any more, nor are others noted until a module is loaded. */
void forget_queues(ContextRecord &record);
void note_load(ContextRecord &record);
void note_unload(ContextRecord &record);

/** The context of a call, held while a function works in it. */
class Scope : NotCopied {
    DeviceScope scope;
    calotype_status status;

public:
    /** On failure is_open() is false, as it is without `create` where there is no context. */
    explicit Scope(void *user_context, bool create = true)
        : status(acquire_scope(user_context, create, &scope)) {
    }
    ~Scope() {
        if (is_open()) {
            release_scope(scope);
        }
    }

    bool is_open() const {
        return status == CALOTYPE_OK && scope.context;
    }
    bool has_failed() const {
        return status != CALOTYPE_OK;
    }
    const DeviceScope &get() const {
        return scope;
    }
};

extern const KernelBackend kernel_backend;

/** The record of a context that has not ended, null if there is none. */
ContextRecord *find_record(cl_context context, cl_device_id device);

/** KernelBackend::has_any and has_context. */
bool has_any_context();
bool has_context(void *user_context);
/** Whether the context with that identity still exists. */
bool is_context_alive(uint64_t id);
/** The context has ended, or is about to: its identity is never answered again. */
void forget_context(uint64_t id);
void forget_all_contexts();

/** If the scope's context is one of the default ones, end it; the next call makes a new one. */
calotype_status end_default_context(const DeviceScope &scope);
void end_all_default_contexts();

}  // namespace calotype::runtime::opencl
