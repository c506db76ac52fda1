// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/cuda/kernels.h"

#include "runtime/cuda/captures.h"
#include "runtime/device/failure.h"

namespace calotype::runtime::cuda {

namespace {

/** Not of the pool: it must outlive the work of all streams. */
calotype_status allocate(const DeviceScope &scope, size_t bytes, uint64_t *address) {
    CUdeviceptr found = 0;
    const CUresult code = invoke(&Driver::cuMemAlloc, &found, bytes);
    *address = found;
    return status_of(code);
}

calotype_status deallocate(const DeviceScope &scope, uint64_t address) {
    return status_of(invoke(&Driver::cuMemFree, address));
}

calotype_status copy_to_host(const DeviceScope &scope, void *destination, uint64_t address,
                             size_t bytes) {
    if (is_capturing(scope, nullptr)) {
        return fail_with(CALOTYPE_E_CAPTURE,
                         "a copy to the host would wait, but the stream is being captured");
    }
    const CUstream stream = static_cast<CUstream>(scope.stream);
    CUresult code = invoke(&Driver::cuMemcpyDtoHAsync, destination, address, bytes, stream);
    if (code == CUDA_SUCCESS) {
        code = invoke(&Driver::cuStreamSynchronize, stream);
    }
    return status_of(code);
}

calotype_status set_size(const DeviceScope &scope, uint64_t bytes) {
    const CUresult code = driver().cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, size_t(bytes));
    if (code == CUDA_SUCCESS) {
        return CALOTYPE_OK;
    }
    Text text;
    text << "cuCtxSetLimit: ";
    append_result(text, code);
    text << "; a heap of " << bytes << " bytes was asked for, which must be before any kernel of "
         << "the context has allocated";
    return fail_with(status_of(code, CALOTYPE_E_BUSY), text, code);
}

}  // namespace

const DeviceHeap device_heap = {allocate, deallocate, copy_to_host, set_size};

}  // namespace calotype::runtime::cuda
