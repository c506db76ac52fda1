// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The driver, its devices and contexts.

#include "harness/fake_cuda/state.h"

using namespace fake_cuda;
using Guard = std::lock_guard<std::mutex>;

namespace {

struct Meaning {
    CUresult code;
    const char *name, *text;
};
const Meaning meanings[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CUDA_ERROR_DEINITIALIZED, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_SYSTEM_NOT_READY, "CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized"},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {CUDA_ERROR_CONTEXT_IS_DESTROYED, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
};

const Meaning *meaning_of(CUresult code) {
    for (const Meaning &meaning : meanings) {
        if (meaning.code == code) {
            return &meaning;
        }
    }
    return nullptr;
}

bool is_device(CUdevice device) {
    return device >= 0 && size_t(device) < state().devices.size();
}

}  // namespace

namespace fake_cuda {
CUctx_st *make_context(int device, CUctx_st *at);

void use_heap() {
    Guard guard(state().lock);
    CUctx_st *context = nullptr;
    if (current(&context) == CUDA_SUCCESS) {
        context->is_heap_used = true;
    }
}

size_t heap_bytes(void *context) {
    Guard guard(state().lock);
    return static_cast<CUctx_st *>(context)->heap_bytes;
}
}  // namespace fake_cuda

CUresult cuInit(unsigned) {
    FAKE_CUDA_CALL("cuInit");
    Guard guard(state().lock);
    return state().devices.empty() ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version) {
    FAKE_CUDA_CALL("cuDriverGetVersion");
    Guard guard(state().lock);
    *version = state().version;
    return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult result, const char **name) {
    FAKE_CUDA_CALL("cuGetErrorName");
    const Meaning *meaning = meaning_of(result);
    *name = meaning ? meaning->name : nullptr;
    return meaning ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult result, const char **text) {
    FAKE_CUDA_CALL("cuGetErrorString");
    const Meaning *meaning = meaning_of(result);
    *text = meaning ? meaning->text : nullptr;
    return meaning ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceGetCount(int *count) {
    FAKE_CUDA_CALL("cuDeviceGetCount");
    Guard guard(state().lock);
    *count = int(state().devices.size());
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    FAKE_CUDA_CALL("cuDeviceGet");
    Guard guard(state().lock);
    *device = ordinal;
    return is_device(ordinal) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetName(char *name, int size, CUdevice device) {
    FAKE_CUDA_CALL("cuDeviceGetName");
    snprintf(name, size_t(size), "fake device %d", device);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
    FAKE_CUDA_CALL("cuDeviceGetAttribute");
    Guard guard(state().lock);
    if (!is_device(device)) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    const Device &d = state().devices[size_t(device)];
    const std::map<int, int> values = {
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152},
        {CU_DEVICE_ATTRIBUTE_MAX_PITCH, 2147483647},
        {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, d.multiprocessors},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, d.major},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, d.minor},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
        {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, state().pools_supported},
    };
    const auto found = values.find(attribute);
    *value = found == values.end() ? 0 : found->second;
    return found == values.end() ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice) {
    FAKE_CUDA_CALL("cuDeviceTotalMem");
    Guard guard(state().lock);
    *bytes = state().memory;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    FAKE_CUDA_CALL("cuDevicePrimaryCtxRetain");
    Guard guard(state().lock);
    if (!is_device(device)) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    Device &d = state().devices[size_t(device)];
    // A primary context is at the same address whenever it is made.
    if (!d.primary || !state().contexts.count(d.primary)) {
        d.primary = make_context(device, d.primary);
        d.primary->is_primary = true;
    }
    d.retains++;
    *context = d.primary;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    FAKE_CUDA_CALL("cuDevicePrimaryCtxRelease");
    Guard guard(state().lock);
    Device &d = state().devices[size_t(device)];
    if (d.retains == 0) {
        state().misuse++;
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (--d.retains == 0 && state().contexts.count(d.primary)) {
        destroy_contents(d.primary);
    }
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *is_active) {
    FAKE_CUDA_CALL("cuDevicePrimaryCtxGetState");
    Guard guard(state().lock);
    if (!is_device(device)) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    const Device &d = state().devices[size_t(device)];
    *flags = 0;
    *is_active = d.primary && state().contexts.count(d.primary);
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
    FAKE_CUDA_CALL("cuDevicePrimaryCtxReset");
    Guard guard(state().lock);
    Device &d = state().devices[size_t(device)];
    if (d.primary && state().contexts.count(d.primary)) {
        destroy_contents(d.primary);
    }
    return CUDA_SUCCESS;
}

CUresult cuCtxCreate_v2(CUcontext *context, unsigned, CUdevice device) {
    FAKE_CUDA_CALL("cuCtxCreate");
    Guard guard(state().lock);
    if (!is_device(device)) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    *context = make_context(device, nullptr);
    (*context)->is_primary = false;
    stack().push_back(*context);
    return CUDA_SUCCESS;
}

CUresult cuCtxDestroy_v2(CUcontext context) {
    FAKE_CUDA_CALL("cuCtxDestroy");
    Guard guard(state().lock);
    if (!state().contexts.count(context)) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    destroy_contents(context);
    if (!stack().empty() && stack().back() == context) {
        stack().pop_back();
    }
    give_up_memory(context);
    return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
    FAKE_CUDA_CALL("cuCtxPushCurrent");
    Guard guard(state().lock);
    if (!state().contexts.count(context)) {
        state().calls_for_the_dead++;
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    stack().push_back(context);
    return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext *context) {
    FAKE_CUDA_CALL("cuCtxPopCurrent");
    if (stack().empty()) {
        Guard guard(state().lock);
        state().misuse++;
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (context) {
        *context = stack().back();
    }
    stack().pop_back();
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context) {
    FAKE_CUDA_CALL("cuCtxGetCurrent");
    *context = stack().empty() ? nullptr : stack().back();
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device) {
    FAKE_CUDA_CALL("cuCtxGetDevice");
    Guard guard(state().lock);
    CUctx_st *context = nullptr;
    const CUresult code = current(&context);
    if (code == CUDA_SUCCESS) {
        *device = context->device;
    }
    return code;
}

CUresult cuCtxSynchronize(void) {
    FAKE_CUDA_CALL("cuCtxSynchronize");
    std::unique_lock<std::mutex> lock(state().lock);
    CUctx_st *context = nullptr;
    if (CUresult code = current(&context)) {
        return code;
    }
    if (breaks_any_capture(context)) {
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    const auto is_idle = [&] {
        if (context->default_stream.is_held) {
            return false;
        }
        for (const auto &[handle, stream] : state().streams) {
            if (stream->context == context && stream->is_held) {
                return false;
            }
        }
        return true;
    };
    state().released.wait(lock, is_idle);
    return CUDA_SUCCESS;
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
    FAKE_CUDA_CALL("cuCtxSetLimit");
    Guard guard(state().lock);
    CUctx_st *context = nullptr;
    if (CUresult code = current(&context)) {
        return code;
    }
    if (limit != CU_LIMIT_MALLOC_HEAP_SIZE || context->is_heap_used) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    context->heap_bytes = value;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetId(CUcontext context, unsigned long long *id) {
    FAKE_CUDA_CALL("cuCtxGetId");
    Guard guard(state().lock);
    const volatile uint64_t &number = context->id;
    const uint64_t found = number;  // as a real driver looks, be it alive or not
    if (!state().contexts.count(context)) {
        state().calls_for_the_dead++;
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    }
    *id = found;
    return CUDA_SUCCESS;
}
