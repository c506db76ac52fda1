// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/cuda/heap.h"

#include "runtime/cuda/captures.h"
#include "runtime/device/failure.h"

namespace calotype {
namespace runtime {
namespace cuda {

namespace {

/** Not of the pool: it must outlive the work of all streams. */
calotype_status allocate(const DeviceScope &scope, size_t bytes, uint64_t *address) {
    (void)scope;
    CUdeviceptr found = 0;
    const CUresult code = note_failure("cuMemAlloc", driver().cuMemAlloc(&found, bytes));
    *address = found;
    return status_of(code);
}

calotype_status deallocate(const DeviceScope &scope, uint64_t address) {
    (void)scope;
    return status_of(note_failure("cuMemFree", driver().cuMemFree(address)));
}

calotype_status copy_to_host(const DeviceScope &scope, void *destination, uint64_t address,
                             size_t bytes) {
    if (is_capturing(scope, nullptr)) {
        set_failure("a copy to the host would wait, but the stream is being captured");
        return CALOTYPE_E_CAPTURE;
    }
    const CUstream stream = static_cast<CUstream>(scope.stream);
    CUresult code = note_failure("cuMemcpyDtoHAsync",
                                 driver().cuMemcpyDtoHAsync(destination, address, bytes, stream));
    if (code == CUDA_SUCCESS) {
        code = note_failure("cuStreamSynchronize", driver().cuStreamSynchronize(stream));
    }
    return status_of(code);
}

calotype_status set_size(const DeviceScope &scope, uint64_t bytes) {
    (void)scope;
    const CUresult code = driver().cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, size_t(bytes));
    if (code == CUDA_SUCCESS) {
        return CALOTYPE_OK;
    }
    Text text;
    text << "cuCtxSetLimit: ";
    append_result(text, code);
    text << "; a heap of " << bytes << " bytes was asked for, which must be before any kernel of "
         << "the context has allocated";
    set_failure(text, code);
    return status_of(code, CALOTYPE_E_BUSY);
}

}  // namespace

const DeviceHeap device_heap = {allocate, deallocate, copy_to_host, set_size};

}  // namespace cuda
}  // namespace runtime
}  // namespace calotype
