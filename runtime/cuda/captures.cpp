// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A graph says when it goes by an object of the application's that it owns: instances and copies of
// it share the object, and the last of them ends it.
#include "runtime/cuda/captures.h"
#include "runtime/host/not_copied.h"

namespace calotype::runtime::cuda {

namespace {

CUstream stream_of(const DeviceScope &scope, void *stream) {
    return static_cast<CUstream>(stream ? stream : scope.stream);
}

/** The default streams are those of the current context. */
class NamedStream : NotCopied {
    const DeviceScope &scope;
    bool is_entered;

public:
    const CUstream stream;
    const bool is_known;

    NamedStream(const DeviceScope &scope, void *given)
        : scope(scope),
          is_entered(!names_its_context(stream_of(scope, given)) && enter(scope) == CALOTYPE_OK),
          stream(stream_of(scope, given)), is_known(is_entered || names_its_context(stream)) {
    }
    ~NamedStream() {
        if (is_entered) {
            leave(scope);
        }
    }
};

/** The one of before CUDA 7, which all wait for. */
bool is_legacy(CUstream stream) {
    return reinterpret_cast<uintptr_t>(stream) < 2;
}

calotype_status refuse(const char *call, CUresult code) {
    return status_of(note_failure(call, code), CALOTYPE_E_CAPTURE);
}

}  // namespace

bool is_capturing(const DeviceScope &scope, void *stream) {
    const NamedStream asked(scope, stream);
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUresult code = asked.is_known ? driver().cuStreamIsCapturing(asked.stream, &status)
                                         : CUDA_ERROR_INVALID_CONTEXT;
    return code == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT ||
           (code == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE);
}

uint64_t capture_of(const DeviceScope &scope, void *stream) {
    const Driver &d = driver();
    if (is_legacy(stream_of(scope, stream)) || !d.has_user_objects) {
        return 0;
    }
    const NamedStream asked(scope, stream);
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    unsigned long long id = 0;
    if (!asked.is_known || d.cuStreamIsCapturing(asked.stream, &status) != CUDA_SUCCESS ||
        status != CU_STREAM_CAPTURE_STATUS_ACTIVE ||
        d.cuStreamGetCaptureInfo(asked.stream, &status, &id, nullptr, nullptr, nullptr) !=
            CUDA_SUCCESS) {
        return 0;
    }
    return id;
}

calotype_status tie_to_graph(const DeviceScope &scope, void *stream, void (*ended)(void *),
                             void *data) {
    const Driver &d = driver();
    const NamedStream asked(scope, stream);
    context_info(scope).may_be_captured.store(true, std::memory_order_relaxed);
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUgraph graph = nullptr;
    CUuserObject object = nullptr;
    const char *call = "cuStreamGetCaptureInfo";
    CUresult code =
        d.cuStreamGetCaptureInfo(asked.stream, &status, nullptr, &graph, nullptr, nullptr);
    if (code == CUDA_SUCCESS && status == CU_STREAM_CAPTURE_STATUS_INVALIDATED) {
        code = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    if (code == CUDA_SUCCESS) {
        call = "cuUserObjectCreate";
        code = d.cuUserObjectCreate(&object, data, ended, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    }
    if (code != CUDA_SUCCESS) {
        ended(data);
        return refuse(call, code);
    }
    code = d.cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE);
    if (code != CUDA_SUCCESS) {
        d.cuUserObjectRelease(object, 1);  // which ends it
    }
    return refuse("cuGraphRetainUserObject", code);
}

}  // namespace calotype::runtime::cuda
