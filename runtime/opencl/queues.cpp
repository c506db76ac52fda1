// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The queues of a context on which kernels were launched, retained so that they can be waited for
// until no module is loaded in the context.
//
// Each time that there are some more, queues that the application has released, which nobody but
// this list retains any more, are waited for and given up. The driver is never waited for with the
// lock held; meanwhile a place in the list stays that of its queue, or becomes empty.
#include <algorithm>

#include "runtime/device/failure.h"
#include "runtime/host/timed_wait.h"
#include "runtime/opencl/context.h"
#include "runtime/opencl/driver.h"
#include "runtime/opencl/errors.h"
#include "runtime/opencl/kernels.h"

namespace calotype::runtime::opencl {

namespace {

/** So many more are noted before the list is looked through. */
constexpr uint32_t queues_between_looks = 8;

constexpr uint32_t host_device_wait_ms = 5000;

/** The place that has the queue, or with null one that is empty; null if there is none. The lock is
 * held. */
cl_command_queue *find_place(ContextRecord &record, cl_command_queue queue) {
    for (uint32_t i = 0; i < record.queues.n; i++) {
        if (record.queues.items[i] == queue) {
            return &record.queues.items[i];
        }
    }
    return nullptr;
}

bool is_released_by_all_others(cl_command_queue queue) {
    cl_uint references = 0;
    return cl().clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof references,
                                      &references, nullptr) == CL_SUCCESS &&
           references == 1;
}

/** Call f(queue) for each that is wanted, retained once more and without the lock. */
template<typename IsWanted, typename Body>
void for_each_queue(ContextRecord &record, IsWanted is_wanted, Body body) {
    LockGuard lock(record.queues_lock);
    for (uint32_t i = 0; i < record.queues.n; i++) {
        cl_command_queue queue = record.queues.items[i];
        if (queue && is_wanted(queue) && cl().clRetainCommandQueue(queue) == CL_SUCCESS) {
            const Unlocked unlocked(record.queues_lock);
            body(queue);
            cl().clReleaseCommandQueue(queue);
        }
    }
}

bool is_any(cl_command_queue) {
    return true;
}

void give_up_released(ContextRecord &record) {
    for_each_queue(record, is_released_by_all_others, [&](cl_command_queue queue) {
        cl().clFinish(queue);
        LockGuard lock(record.queues_lock);
        if (cl_command_queue *place = find_place(record, queue)) {
            *place = nullptr;
            cl().clReleaseCommandQueue(queue);
        }
    });
}

/** With the lock held. */
calotype_status keep(ContextRecord &record, cl_command_queue queue) {
    if (record.modules.load(std::memory_order_relaxed) == 0 || find_place(record, queue)) {
        return CALOTYPE_OK;  // without modules a forced release came first, and
                             // nobody waits
    }
    cl_command_queue *place = find_place(record, nullptr);
    if (!place && !record.queues.add(nullptr)) {
        return fail_with(CALOTYPE_E_OOM, "out of host memory for the list of queues");
    }
    const cl_int error = cl().clRetainCommandQueue(queue);
    if (error != CL_SUCCESS) {
        return explain(error, "clRetainCommandQueue");
    }
    *(place ? place : find_place(record, nullptr)) = queue;
    return CALOTYPE_OK;
}

}  // namespace

calotype_status note_queue(ContextRecord &record, cl_command_queue queue) {
    bool is_full = false;
    {
        LockGuard lock(record.queues_lock);
        if (find_place(record, queue)) {
            return CALOTYPE_OK;
        }
        is_full = record.queues.n > 0 && record.queues.n % queues_between_looks == 0 &&
                  !find_place(record, nullptr);
    }
    if (is_full) {
        give_up_released(record);
    }
    LockGuard lock(record.queues_lock);
    return keep(record, queue);
}

calotype_status finish_queues(ContextRecord &record) {
    cl_int result = CL_SUCCESS;
    for_each_queue(record, is_any, [&](cl_command_queue queue) {
        const cl_int error = cl().clFinish(queue);
        result = result == CL_SUCCESS ? error : result;
    });
    return result == CL_SUCCESS ? CALOTYPE_OK : explain(result, "clFinish");
}

/** Whether all that is queued has run by then. */
static bool await_queue(const DeviceScope &scope, cl_command_queue queue, uint64_t deadline_ns) {
    void *marker = nullptr;
    if (record_event(scope, queue, &marker) != CALOTYPE_OK) {
        return false;
    }
    calotype_status status = CALOTYPE_E_BUSY;
    poll_until(deadline_ns, [&] { return (status = query_event(marker)) != CALOTYPE_E_BUSY; });
    destroy_event(marker);
    return status == CALOTYPE_OK;
}

bool await_queues(const DeviceScope &scope, uint64_t deadline_ns) {
    ContextRecord &record = record_of(scope);
    // A driver that still compiles or computes on threads of this process crashes as its own exit
    // handlers take away what those use.
    const uint64_t deadline = record.device_type & CL_DEVICE_TYPE_CPU
                                  ? std::max(deadline_ns, deadline_after_ms(host_device_wait_ms))
                                  : deadline_ns;
    bool are_idle = true;
    const FailureScope ignored;
    for_each_queue(record, is_any, [&](cl_command_queue queue) {
        are_idle = are_idle && await_queue(scope, queue, deadline);
    });
    return are_idle;
}

void forget_queues(ContextRecord &record) {
    LockGuard lock(record.queues_lock);
    record.modules.store(0, std::memory_order_relaxed);
    record.queues.n = 0;
}

void note_load(ContextRecord &record) {
    record.modules.fetch_add(1, std::memory_order_relaxed);
}

void note_unload(ContextRecord &record) {
    LockGuard lock(record.queues_lock);
    if (record.modules.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        while (record.queues.n > 0) {
            if (cl_command_queue queue = record.queues.items[--record.queues.n]) {
                cl().clReleaseCommandQueue(queue);
            }
        }
    }
}

}  // namespace calotype::runtime::opencl
