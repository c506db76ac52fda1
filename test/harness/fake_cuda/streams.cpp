// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Streams and events: when work is done.
#include "harness/fake_cuda/state.h"

#include <algorithm>
#include <utility>

using namespace fake_cuda;
using Guard = std::lock_guard<std::mutex>;

namespace fake_cuda {

CUresult find_stream(CUstream handle, Stream **stream) {
    CUctx_st *context = nullptr;
    CUresult code = current(&context);
    const auto number = reinterpret_cast<uintptr_t>(handle);
    if (number <= 2) {
        *stream = code ? nullptr : number == 2 ? &context->thread_stream : &context->default_stream;
        return code;
    }
    const auto found = state().streams.find(handle);
    if (found == state().streams.end()) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    *stream = found->second.get();
    return CUDA_SUCCESS;
}

CUresult submit(CUstream handle, Work work) {
    {
        Guard guard(state().lock);
        Stream *stream = nullptr;
        if (CUresult code = find_stream(handle, &stream)) {
            return code;
        }
        if (stream->capture) {
            stream->capture->nodes.push_back(std::move(work));
            return CUDA_SUCCESS;
        }
        if (stream->is_held) {
            stream->queue.push_back(std::move(work));
            return CUDA_SUCCESS;
        }
    }
    work();
    return CUDA_SUCCESS;
}

static thread_local CUstreamCaptureMode capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

bool breaks_capture(CUctx_st *context) {
    return capture_mode != CU_STREAM_CAPTURE_MODE_RELAXED && breaks_any_capture(context);
}

bool breaks_any_capture(CUctx_st *context) {
    bool any = false;
    for (auto &[handle, stream] : state().streams) {
        if (stream->context == context && stream->capture) {
            stream->capture->is_valid = false;
            any = true;
        }
    }
    return any;
}

static Stream *stream_of(void *context, void *stream) {
    return stream ? state().streams.at(stream).get()
                  : &static_cast<CUctx_st *>(context)->default_stream;
}

void hold_stream(void *context, void *stream) {
    Guard guard(state().lock);
    stream_of(context, stream)->is_held = true;
}

void release_stream(void *context, void *stream) {
    for (;;) {
        Work work;
        {
            Guard guard(state().lock);
            if (stream && !state().streams.count(stream)) {
                return;  // it has gone meanwhile
            }
            Stream &released = *stream_of(context, stream);
            if (released.queue.empty()) {
                released.is_held = false;
                state().released.notify_all();
                return;
            }
            work = std::move(released.queue.front());
            released.queue.pop_front();
        }
        work();
    }
}

}  // namespace fake_cuda

CUresult cuStreamCreate(CUstream *handle, unsigned flags) {
    FAKE_CUDA_CALL("cuStreamCreate");
    Guard guard(state().lock);
    CUctx_st *context = nullptr;
    if (CUresult code = current(&context)) {
        return code;
    }
    static unsigned long long streams_ever = 0;
    auto stream = std::make_unique<Stream>();
    stream->context = context;
    stream->id = ++streams_ever;
    stream->is_blocking = !(flags & CU_STREAM_NON_BLOCKING);
    *handle = reinterpret_cast<CUstream>(stream.get());
    state().streams[*handle] = std::move(stream);
    return CUDA_SUCCESS;
}

CUresult cuStreamGetId(CUstream handle, unsigned long long *id) {
    FAKE_CUDA_CALL("cuStreamGetId");
    Guard guard(state().lock);
    Stream *stream = nullptr;
    if (CUresult code = find_stream(handle, &stream)) {
        return code;
    }
    *id = stream->id;
    return CUDA_SUCCESS;
}

CUresult cuStreamDestroy_v2(CUstream handle) {
    FAKE_CUDA_CALL("cuStreamDestroy");
    std::deque<Work> rest;  // which a driver still does
    {
        Guard guard(state().lock);
        const auto found = state().streams.find(handle);
        if (found == state().streams.end()) {
            return CUDA_ERROR_INVALID_HANDLE;
        }
        rest.swap(found->second->queue);
        state().streams.erase(found);
    }
    for (Work &work : rest) {
        work();
    }
    return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream handle) {
    FAKE_CUDA_CALL("cuStreamSynchronize");
    std::unique_lock<std::mutex> lock(state().lock);
    Stream *stream = nullptr;
    if (CUresult code = find_stream(handle, &stream)) {
        return code;
    }
    if (stream->capture) {
        stream->capture->is_valid = false;
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    state().released.wait(lock, [&] { return !stream->is_held; });
    return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus *status) {
    FAKE_CUDA_CALL("cuStreamIsCapturing");
    Guard guard(state().lock);
    Stream *stream = nullptr;
    if (CUresult code = find_stream(handle, &stream)) {
        return code;
    }
    const bool is_other_captured =
        !handle && std::any_of(state().streams.begin(), state().streams.end(), [&](const auto &s) {
            return s.second->context == stream->context && s.second->capture &&
                   s.second->is_blocking;
        });
    if (is_other_captured) {
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;  // and the capture goes on
    }
    *status = CUstreamCaptureStatus(!stream->capture ? 0 : stream->capture->is_valid ? 1 : 2);
    return CUDA_SUCCESS;
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
    FAKE_CUDA_CALL("cuThreadExchangeStreamCaptureMode");
    std::swap(*mode, capture_mode);
    return CUDA_SUCCESS;
}

CUresult cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode) {
    FAKE_CUDA_CALL("cuStreamBeginCapture");
    Guard guard(state().lock);
    Stream *stream = nullptr;
    if (CUresult code = find_stream(handle, &stream)) {
        return code;
    }
    if (!handle || stream->capture) {
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    static unsigned long long captures_ever = 0;
    stream->capture = std::make_shared<Graph>();
    stream->capture->capture = ++captures_ever;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetCaptureInfo_v2(CUstream handle, CUstreamCaptureStatus *status,
                                   unsigned long long *id, CUgraph *graph, const CUgraphNode **,
                                   size_t *) {
    FAKE_CUDA_CALL("cuStreamGetCaptureInfo");
    Guard guard(state().lock);
    Stream *stream = nullptr;
    if (CUresult code = find_stream(handle, &stream)) {
        return code;
    }
    const bool is_active = stream->capture && stream->capture->is_valid;
    *status = CUstreamCaptureStatus(!stream->capture ? 0 : is_active ? 1 : 2);
    if (is_active && id) {
        *id = stream->capture->capture;
    }
    if (is_active && graph) {
        *graph = reinterpret_cast<CUgraph>(stream->capture.get());
    }
    return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph *graph) {
    FAKE_CUDA_CALL("cuStreamEndCapture");
    Guard guard(state().lock);
    Stream *stream = nullptr;
    if (CUresult code = find_stream(handle, &stream)) {
        return code;
    }
    const std::shared_ptr<Graph> captured = std::move(stream->capture);
    stream->capture = nullptr;
    *graph = nullptr;
    if (!captured || !captured->is_valid) {
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    captured->context = stream->context;
    *graph = reinterpret_cast<CUgraph>(captured.get());
    state().graphs[*graph] = captured;
    return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent *handle, unsigned) {
    FAKE_CUDA_CALL("cuEventCreate");
    Guard guard(state().lock);
    CUctx_st *context = nullptr;
    if (CUresult code = current(&context)) {
        return code;
    }
    auto event = std::make_unique<Event>();
    event->context = context;
    *handle = reinterpret_cast<CUevent>(event.get());
    state().events[*handle] = std::move(event);
    return CUDA_SUCCESS;
}

/// One stream less that an event waits for; with the last one the streams that wait for it go on.
static void finish_one(CUevent handle, unsigned record) {
    std::vector<void *> waiting;
    {
        Guard guard(state().lock);
        const auto found = state().events.find(handle);
        if (found == state().events.end() || found->second->record != record ||
            --found->second->awaited_streams > 0) {
            return;
        }
        found->second->is_done = true;
        waiting.swap(found->second->waiting);
    }
    for (void *stream : waiting) {
        release_stream(nullptr, stream);
    }
}

CUresult cuCtxRecordEvent(CUcontext context, CUevent handle) {
    FAKE_CUDA_CALL("cuCtxRecordEvent");
    Guard guard(state().lock);
    const auto found = state().events.find(handle);
    if (found == state().events.end() || !state().contexts.count(context)) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (breaks_any_capture(context)) {
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    Event &event = *found->second;
    const unsigned record = ++event.record;
    event.awaited_streams = 0;
    const auto await = [&](Stream &stream) {
        if (stream.is_held && stream.context == context) {
            event.awaited_streams++;
            stream.queue.push_back([=] { finish_one(handle, record); });
        }
    };
    await(context->default_stream);
    for (auto &[name, stream] : state().streams) {
        await(*stream);
    }
    event.is_done = event.awaited_streams == 0;
    return CUDA_SUCCESS;
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned) {
    FAKE_CUDA_CALL("cuStreamWaitEvent");
    Guard guard(state().lock);
    const auto found = state().events.find(event);
    Stream *stream = nullptr;
    if (CUresult code = find_stream(handle, &stream)) {
        return code;
    }
    if (found == state().events.end() || (!handle && !found->second->is_done)) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (!found->second->is_done) {
        stream->is_held = true;
        found->second->waiting.push_back(handle);
    }
    return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent handle, CUstream stream) {
    FAKE_CUDA_CALL("cuEventRecord");
    {
        Guard guard(state().lock);
        const auto found = state().events.find(handle);
        if (found == state().events.end()) {
            return CUDA_ERROR_INVALID_HANDLE;
        }
        found->second->is_done = false;
    }
    return submit(stream, [handle] {
        Guard guard(state().lock);
        const auto found = state().events.find(handle);
        if (found != state().events.end()) {
            found->second->is_done = true;
        }
    });
}

CUresult cuEventQuery(CUevent handle) {
    FAKE_CUDA_CALL("cuEventQuery");
    Guard guard(state().lock);
    const auto found = state().events.find(handle);
    if (found == state().events.end()) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    return found->second->is_done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuEventDestroy_v2(CUevent handle) {
    FAKE_CUDA_CALL("cuEventDestroy");
    Guard guard(state().lock);
    if (!state().events.erase(handle)) {
        state().misuse++;
        return CUDA_ERROR_INVALID_HANDLE;
    }
    return CUDA_SUCCESS;
}
