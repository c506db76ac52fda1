// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The queues of a context on which kernels were launched, kept so that they can be waited for.
#include "runtime/opencl/context.h"
#include "runtime/opencl/driver.h"
#include "runtime/opencl/errors.h"

namespace calotype {
namespace runtime {
namespace opencl {

/** All is noted already, as a rule. */
static bool is_noted(const ContextRecord &record, cl_command_queue queue) {
    for (const auto &noted : record.queues) {
        if (noted.load(std::memory_order_acquire) == queue) {
            return true;
        }
    }
    return false;
}

void note_queue(ContextRecord &record, cl_command_queue queue) {
    if (is_noted(record, queue)) {
        return;
    }
    LockGuard lock(record.queues_lock);
    if (record.modules.load(std::memory_order_relaxed) == 0) {
        return;  // a forced release came first, and nobody waits for the queue any more
    }
    if (is_noted(record, queue) || cl().clRetainCommandQueue(queue) != CL_SUCCESS) {
        return;
    }
    for (auto &place : record.queues) {
        if (!place.load(std::memory_order_relaxed)) {
            place.store(queue, std::memory_order_release);
            return;
        }
    }
    // No place left: what is done needs no place.
    cl_command_queue oldest = record.queues[0].load(std::memory_order_relaxed);
    cl().clFinish(oldest);
    for (int i = 1; i < ContextRecord::max_queues; i++) {
        record.queues[i - 1].store(record.queues[i].load(std::memory_order_relaxed),
                                   std::memory_order_release);
    }
    record.queues[ContextRecord::max_queues - 1].store(queue, std::memory_order_release);
    cl().clReleaseCommandQueue(oldest);
}

calotype_status finish_queues(ContextRecord &record) {
    cl_int result = CL_SUCCESS;
    LockGuard lock(record.queues_lock);
    for (auto &place : record.queues) {
        if (cl_command_queue queue = place.load(std::memory_order_relaxed)) {
            const cl_int error = cl().clFinish(queue);
            result = result == CL_SUCCESS ? error : result;
        }
    }
    return result == CL_SUCCESS ? CALOTYPE_OK : explain(result, "clFinish");
}

void note_load(ContextRecord &record) {
    record.modules.fetch_add(1, std::memory_order_relaxed);
}

void note_unload(ContextRecord &record) {
    LockGuard lock(record.queues_lock);
    if (record.modules.fetch_sub(1, std::memory_order_acq_rel) != 1) {
        return;
    }
    for (auto &place : record.queues) {
        if (cl_command_queue queue = place.exchange(nullptr, std::memory_order_acq_rel)) {
            cl().clReleaseCommandQueue(queue);
        }
    }
}

}  // namespace opencl
}  // namespace runtime
}  // namespace calotype
