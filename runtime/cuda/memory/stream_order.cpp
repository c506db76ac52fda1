// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/cuda/memory/memory.h"

#include "runtime/cuda/captures.h"
#include "runtime/device/failure.h"

namespace calotype::runtime::cuda {

namespace {

/** Make stream and event of the context unless they are there. Of two threads that do so at once
 * one gives up its own. */
CUresult make_ordered_stream(ContextInfo &info) {
    const Driver &d = driver();
    const AllowedInCaptures allowed;
    CUstream stream = nullptr, no_stream = nullptr;
    CUevent event = nullptr, no_event = nullptr;
    CUresult code = invoke(&Driver::cuEventCreate, &event, CU_EVENT_DISABLE_TIMING);
    if (code == CUDA_SUCCESS && !info.ordering_event.compare_exchange_strong(no_event, event)) {
        d.cuEventDestroy(event);
    }
    if (code == CUDA_SUCCESS) {
        code = invoke(&Driver::cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
    }
    if (code == CUDA_SUCCESS && !info.ordered_stream.compare_exchange_strong(no_stream, stream)) {
        d.cuStreamDestroy(stream);
    }
    return code;
}

/** The event may be recorded once more by another thread before the stream is told to wait for it:
 * that record is after more work, not less. */
CUresult wait_for_context(ContextInfo &info, CUstream stream) {
    CUevent event = info.ordering_event.load(std::memory_order_acquire);
    CUresult code = driver().cuCtxRecordEvent(info.handle.load(std::memory_order_relaxed), event);
    return code == CUDA_SUCCESS ? driver().cuStreamWaitEvent(stream, event, 0) : code;
}

}  // namespace

bool is_any_captured(const ContextInfo &info) {
    DeviceScope scope = {};
    scope.context = info.handle.load(std::memory_order_relaxed);
    return is_capturing(scope, nullptr);
}

calotype_status stream_after_all_work(ContextInfo &info, CUstream *stream) {
    *stream = nullptr;
    if (!info.has_streams.load(std::memory_order_relaxed)) {
        return CALOTYPE_OK;  // all work is on the default stream
    }
    // A capture that is asked to be waited for is broken, so it is looked for first.
    if (is_any_captured(info)) {
        return CALOTYPE_E_CAPTURE;
    }
    if (!driver().cuCtxRecordEvent) {
        return status_of(invoke(&Driver::cuCtxSynchronize));
    }
    if (!info.ordered_stream.load(std::memory_order_acquire)) {
        if (CUresult code = make_ordered_stream(info)) {
            return status_of(code);
        }
    }
    *stream = info.ordered_stream.load(std::memory_order_acquire);
    return status_of(note_failure("cuCtxRecordEvent", wait_for_context(info, *stream)));
}

void end_ordered_stream(ContextInfo &info, bool has_driver) {
    CUstream stream = info.ordered_stream.exchange(nullptr);
    CUevent event = info.ordering_event.exchange(nullptr);
    if (has_driver && stream) {
        driver().cuStreamDestroy(stream);
    }
    if (has_driver && event) {
        driver().cuEventDestroy(event);
    }
}

}  // namespace calotype::runtime::cuda
