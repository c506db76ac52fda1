// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The queues of a context on which kernels were launched, retained so that they can be waited for
// until no module is loaded in the context.
//
// They stand in a list of blocks that only grows, so that a launch finds its queue without a lock.
// Before a block is added, queues that the application has released, which nobody but this list
// retains any more, are waited for and given up. The driver is never waited for with the lock held.
#include <new>
#include <stdlib.h>

#include "runtime/device/failure.h"
#include "runtime/host/timed_wait.h"
#include "runtime/opencl/context.h"
#include "runtime/opencl/driver.h"
#include "runtime/opencl/errors.h"
#include "runtime/opencl/launch.h"

namespace calotype {
namespace runtime {
namespace opencl {

namespace {

using Slot = std::atomic<cl_command_queue>;

/** The slot that has the queue, null for any that is empty. */
Slot *find_slot(QueueBlock &first, cl_command_queue queue) {
    for (QueueBlock *block = &first; block; block = block->next.load(std::memory_order_acquire)) {
        for (Slot &slot : block->queues) {
            if (slot.load(std::memory_order_acquire) == queue) {
                return &slot;
            }
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

/** The queue of a slot, retained once more, if it is to be waited for. */
template<typename IsWanted>
cl_command_queue retain(ContextRecord &record, Slot &slot, IsWanted is_wanted) {
    LockGuard lock(record.queues_lock);
    cl_command_queue queue = slot.load(std::memory_order_relaxed);
    return queue && is_wanted(queue) && cl().clRetainCommandQueue(queue) == CL_SUCCESS ? queue
                                                                                       : nullptr;
}

/** Call f(queue, slot) for each that is wanted, without the lock. */
template<typename IsWanted, typename Body>
void for_each_queue(ContextRecord &record, IsWanted is_wanted, Body body) {
    QueueBlock *block = &record.queues;
    for (; block; block = block->next.load(std::memory_order_acquire)) {
        for (Slot &slot : block->queues) {
            if (cl_command_queue queue = retain(record, slot, is_wanted)) {
                body(queue, slot);
                cl().clReleaseCommandQueue(queue);
            }
        }
    }
}

/** Whether the slot had the queue, which it loses. Under the lock, as retain() reads a slot first. */
bool clear(ContextRecord &record, Slot &slot, cl_command_queue queue) {
    LockGuard lock(record.queues_lock);
    return slot.compare_exchange_strong(queue, nullptr);
}

void give_up_released(ContextRecord &record) {
    for_each_queue(record, is_released_by_all_others, [&](cl_command_queue queue, Slot &slot) {
        cl().clFinish(queue);
        if (clear(record, slot, queue)) {
            cl().clReleaseCommandQueue(queue);
        }
    });
}

/** False: out of memory. The lock is held. */
bool add_block(QueueBlock &first) {
    void *memory = calloc(1, sizeof(QueueBlock));
    if (memory) {
        auto *block = new (memory) QueueBlock;
        block->next.store(first.next.load(std::memory_order_relaxed), std::memory_order_relaxed);
        first.next.store(block, std::memory_order_release);
    }
    return memory;
}

/** With the lock held. */
calotype_status keep(ContextRecord &record, cl_command_queue queue) {
    if (record.modules.load(std::memory_order_relaxed) == 0 || find_slot(record.queues, queue)) {
        return CALOTYPE_OK;  // without modules a forced release came first, and nobody waits
    }
    if (!find_slot(record.queues, nullptr) && !add_block(record.queues)) {
        set_failure(Text() << "out of host memory for the list of queues");
        return CALOTYPE_E_OOM;
    }
    const cl_int error = cl().clRetainCommandQueue(queue);
    if (error != CL_SUCCESS) {
        return explain(error, "clRetainCommandQueue");
    }
    find_slot(record.queues, nullptr)->store(queue, std::memory_order_release);
    return CALOTYPE_OK;
}

}  // namespace

calotype_status note_queue(ContextRecord &record, cl_command_queue queue) {
    if (find_slot(record.queues, queue)) {
        return CALOTYPE_OK;
    }
    if (!find_slot(record.queues, nullptr)) {
        give_up_released(record);
    }
    LockGuard lock(record.queues_lock);
    return keep(record, queue);
}

calotype_status finish_queues(ContextRecord &record) {
    cl_int result = CL_SUCCESS;
    for_each_queue(
        record, [](cl_command_queue) { return true; },
        [&](cl_command_queue queue, Slot &) {
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
    bool are_idle = true;
    const FailureScope ignored;
    for_each_queue(
        record_of(scope), [](cl_command_queue) { return true; },
        [&](cl_command_queue queue, Slot &) {
            are_idle = are_idle && await_queue(scope, queue, deadline_ns);
        });
    return are_idle;
}

void forget_queues(ContextRecord &record, bool has_driver) {
    QueueBlock *block = &record.queues;
    for (; block; block = block->next.load(std::memory_order_acquire)) {
        for (Slot &slot : block->queues) {
            cl_command_queue queue = slot.exchange(nullptr, std::memory_order_acq_rel);
            if (queue && has_driver) {
                cl().clReleaseCommandQueue(queue);
            }
        }
    }
}

void note_load(ContextRecord &record) {
    record.modules.fetch_add(1, std::memory_order_relaxed);
}

void note_unload(ContextRecord &record) {
    LockGuard lock(record.queues_lock);
    if (record.modules.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        forget_queues(record, true);
    }
}

}  // namespace opencl
}  // namespace runtime
}  // namespace calotype
