// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules, kernels, launches, and the driver's linker.
#include <cstring>

#include "harness/fake_cuda/state.h"

using namespace fake_cuda;
using Guard = std::lock_guard<std::mutex>;

namespace {

thread_local Module *running = nullptr;

Function *find_function(CUfunction handle) {
    return function_index().has(handle) ? reinterpret_cast<Function *>(handle) : nullptr;
}

void write_log(unsigned count, CUjit_option *options, void **values, const std::string &log) {
    char *buffer = nullptr;
    size_t size = 0;
    for (unsigned i = 0; i < count; i++) {
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER) {
            buffer = static_cast<char *>(values[i]);
        } else if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) {
            size = reinterpret_cast<size_t>(values[i]);
        }
    }
    if (buffer && size > 0) {
        snprintf(buffer, size, "%s", log.c_str());
    }
}

/// A launch with its arguments copied, so that it can be done later.
struct QueuedLaunch {
    std::string name;
    Module *module;
    calotype_test::FakeKernel kernel;
    unsigned grid[3], block[3];
    std::vector<std::vector<uint8_t>> values;
    void *stream;
};

void *memory_of(const std::vector<uint8_t> &value) {
    if (value.size() != sizeof(CUdeviceptr)) {
        return nullptr;
    }
    CUdeviceptr address = 0;
    memcpy(&address, value.data(), sizeof address);
    Guard guard(state().lock);
    return state().find(address, 1) ? reinterpret_cast<void *>(address) : nullptr;
}

void run(const QueuedLaunch &queued) {
    if (!queued.kernel) {
        return;
    }
    std::vector<calotype_test::FakeArgument> args;
    for (const std::vector<uint8_t> &value : queued.values) {
        args.push_back({value.data(), value.size(), memory_of(value)});
    }
    calotype_test::FakeLaunch launch = {};
    launch.name = queued.name.c_str();
    for (int i = 0; i < 3; i++) {
        launch.grid[i] = queued.grid[i];
        launch.block[i] = queued.block[i];
    }
    launch.args = args.data();
    launch.n_args = uint32_t(args.size());
    launch.queue = queued.stream;
    running = queued.module;
    queued.kernel(launch);
    running = nullptr;
}

bool fits(const QueuedLaunch &q, const Function &function, unsigned shared_bytes) {
    const unsigned max_grid[3] = {2147483647, 65535, 65535}, max_block[3] = {1024, 1024, 64};
    for (int i = 0; i < 3; i++) {
        if (q.grid[i] < 1 || q.grid[i] > max_grid[i] || q.block[i] < 1 ||
            q.block[i] > max_block[i]) {
            return false;
        }
    }
    return uint64_t(q.block[0]) * q.block[1] * q.block[2] <= 1024 &&
           shared_bytes <= unsigned(function.max_dynamic_shared);
}

}  // namespace

namespace fake_cuda {

void *global(const std::string &name) {
    if (!running) {
        return nullptr;
    }
    Guard guard(state().lock);
    const auto found = running->globals.find(name);
    return found == running->globals.end() ? nullptr : found->second.data();
}

}  // namespace fake_cuda

/// An argument that is an address which kernels there cannot reach.
static bool is_memory_of_another_device(const std::vector<uint8_t> &value,
                                        const CUctx_st &context) {
    CUdeviceptr address = 0;
    if (value.size() != sizeof address) {
        return false;
    }
    memcpy(&address, value.data(), sizeof address);
    const Allocation *piece = state().find(address, 1);
    return piece && piece->device != context.device;
}

CUresult fake_cuda::prepare_launch(CUfunction handle, CUctx_st *context,
                                   const CUDA_KERNEL_NODE_PARAMS &params, CUstream stream,
                                   Work *work) {
    QueuedLaunch queued{"",
                        nullptr,
                        nullptr,
                        {params.gridDimX, params.gridDimY, params.gridDimZ},
                        {params.blockDimX, params.blockDimY, params.blockDimZ},
                        {},
                        stream};
    const Function *function = find_function(handle);
    if (!function || function->module->context != context) {
        state().misuse++;
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (!fits(queued, *function, params.sharedMemBytes)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    queued.name = function->name;
    queued.module = function->module;
    const auto found = state().kernels.find(function->name);
    queued.kernel = found == state().kernels.end() ? nullptr : found->second;
    for (size_t i = 0; i < function->arg_bytes.size(); i++) {
        const auto *value = static_cast<const uint8_t *>(params.kernelParams[i]);
        queued.values.emplace_back(value, value + function->arg_bytes[i]);
        if (is_memory_of_another_device(queued.values.back(), *context)) {
            state().misuse++;
            context->is_broken = true;
            return CUDA_ERROR_ILLEGAL_ADDRESS;
        }
    }
    *work = [queued] {
        run(queued);
    };
    return CUDA_SUCCESS;
}

CUresult cuModuleLoadDataEx(CUmodule *handle, const void *image, unsigned count,
                            CUjit_option *options, void **values) {
    FAKE_CUDA_CALL("cuModuleLoadDataEx");
    Guard guard(state().lock);
    CUctx_st *context = nullptr;
    if (CUresult code = current(&context)) {
        return code;
    }
    const Device &device = state().devices[size_t(context->device)];
    auto module = std::make_unique<Module>();
    module->context = context;
    std::string log;
    if (CUresult code =
            parse_module(image_text(image), device.major * 10 + device.minor, module.get(), &log)) {
        write_log(count, options, values, log);
        return code;
    }
    // The memory of variables is known to copies.
    for (auto &[name, bytes] : module->globals) {
        Allocation piece{context, bytes.size(), nullptr, nullptr, context->device};
        state().allocations.emplace(reinterpret_cast<CUdeviceptr>(bytes.data()), std::move(piece));
    }
    *handle = reinterpret_cast<CUmodule>(module.get());
    state().modules[*handle] = std::move(module);
    return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule handle) {
    FAKE_CUDA_CALL("cuModuleUnload");
    Guard guard(state().lock);
    CUctx_st *context = nullptr;
    if (CUresult code = current(&context)) {
        return code;
    }
    const auto found = state().modules.find(handle);
    if (found == state().modules.end() || found->second->context != context) {
        state().misuse++;
        return CUDA_ERROR_INVALID_HANDLE;
    }
    for (auto &[name, bytes] : found->second->globals) {
        state().allocations.erase(reinterpret_cast<CUdeviceptr>(bytes.data()));
    }
    state().modules.erase(found);
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule handle, const char *name) {
    FAKE_CUDA_CALL("cuModuleGetFunction");
    Guard guard(state().lock);
    const auto module = state().modules.find(handle);
    if (module == state().modules.end()) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    const auto found = module->second->functions.find(name);
    if (found == module->second->functions.end()) {
        return CUDA_ERROR_NOT_FOUND;
    }
    *function = reinterpret_cast<CUfunction>(found->second.get());
    return CUDA_SUCCESS;
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule handle,
                              const char *name) {
    FAKE_CUDA_CALL("cuModuleGetGlobal");
    Guard guard(state().lock);
    const auto module = state().modules.find(handle);
    if (module == state().modules.end()) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    const auto found = module->second->globals.find(name);
    if (found == module->second->globals.end()) {
        return CUDA_ERROR_NOT_FOUND;
    }
    *address = reinterpret_cast<CUdeviceptr>(found->second.data());
    if (bytes) {
        *bytes = found->second.size();
    }
    return CUDA_SUCCESS;
}

CUresult cuFuncLoad(CUfunction handle) {
    FAKE_CUDA_CALL("cuFuncLoad");
    Guard guard(state().lock);
    return find_function(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

// What is asked for, word by word: type, address, and of each dimension extent and box; strides.
CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, uint32_t rank,
                                void *address, const uint64_t *extents, const uint64_t *strides,
                                const uint32_t *box, const uint32_t *steps, CUtensorMapInterleave,
                                CUtensorMapSwizzle, CUtensorMapL2promotion,
                                CUtensorMapFloatOOBfill) {
    FAKE_CUDA_CALL("cuTensorMapEncodeTiled");
    Guard guard(state().lock);
    CUctx_st *context = nullptr;
    if (const CUresult code = current(&context)) {
        return code;
    }
    constexpr uint64_t most_box = 256, unit = 16, most_stride = uint64_t(1) << 40,
                       most_extent = uint64_t(1) << 32;
    const uint64_t place = reinterpret_cast<uintptr_t>(address);
    CUtensorMap made = {{uint64_t(type), place}};
    bool fits = rank >= 1 && rank <= 5 && place % unit == 0 &&
                reinterpret_cast<uintptr_t>(map) % alignof(CUtensorMap) == 0;
    size_t n = 2;
    for (uint32_t d = 0; d < rank && fits; d++) {
        made.opaque[n++] = extents[d];
        made.opaque[n++] = box[d];
        fits = extents[d] > 0 && extents[d] <= most_extent && box[d] > 0 && box[d] <= most_box &&
               steps[d] == 1;
    }
    for (uint32_t d = 1; d < rank && fits; d++) {
        made.opaque[n < 16 ? n++ : 15] = strides[d - 1];
        fits = strides[d - 1] % unit == 0 && strides[d - 1] < most_stride;
    }
    if (fits) {
        *map = made;
    }
    return fits ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction handle) {
    FAKE_CUDA_CALL("cuFuncGetAttribute");
    Guard guard(state().lock);
    const Function *function = find_function(handle);
    if (!function) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = 1024;
        break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = function->static_shared;
        break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = function->max_dynamic_shared;
        break;
    default:
        *value = 32;
    }
    return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value) {
    FAKE_CUDA_CALL("cuFuncSetAttribute");
    Guard guard(state().lock);
    Function *function = find_function(handle);
    if (!function) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ||
        value > 232448 - function->static_shared) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    function->max_dynamic_shared = value;
    return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction handle, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void **arguments, void **) {
    FAKE_CUDA_CALL("cuLaunchKernel");
    const CUDA_KERNEL_NODE_PARAMS params = {handle,  grid_x,  grid_y,       grid_z,    block_x,
                                            block_y, block_z, shared_bytes, arguments, nullptr};
    Work work;
    {
        Guard guard(state().lock);
        // A stream's context need not be current.
        const auto named = state().streams.find(stream);
        CUctx_st *context = named == state().streams.end() ? nullptr : named->second->context;
        CUresult code = context ? CUDA_SUCCESS : current(&context);
        code = code ? code : prepare_launch(handle, context, params, stream, &work);
        if (code) {
            return code;
        }
    }
    return submit(stream, work);
}

/// What is being linked: texts, one after another.
struct CUlinkState_st {
    std::string text;
    char *error_log = nullptr;
    size_t error_size = 0;
};

CUresult cuLinkCreate_v2(unsigned count, CUjit_option *options, void **values, CUlinkState *link) {
    FAKE_CUDA_CALL("cuLinkCreate");
    Guard guard(state().lock);
    CUctx_st *context = nullptr;
    if (CUresult code = current(&context)) {
        return code;
    }
    const Device &device = state().devices[size_t(context->device)];
    *link = new CUlinkState_st;
    (*link)->text = "//cubin sm_" + std::to_string(device.major * 10 + device.minor) + "\n";
    for (unsigned i = 0; i < count; i++) {
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER) {
            (*link)->error_log = static_cast<char *>(values[i]);
        } else if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) {
            (*link)->error_size = reinterpret_cast<size_t>(values[i]);
        }
    }
    return CUDA_SUCCESS;
}

CUresult cuLinkAddData_v2(CUlinkState link, CUjitInputType, void *data, size_t size, const char *,
                          unsigned, CUjit_option *, void **) {
    FAKE_CUDA_CALL("cuLinkAddData");
    const std::string text(static_cast<const char *>(data), size);
    Module module;
    std::string log;
    if (CUresult code = parse_module(text.c_str(), 0, &module, &log)) {
        if (link->error_log) {
            snprintf(link->error_log, link->error_size, "%s", log.c_str());
        }
        return code;
    }
    link->text += std::string(text.c_str()) + "\n";
    return CUDA_SUCCESS;
}

CUresult cuLinkComplete(CUlinkState link, void **cubin, size_t *size) {
    FAKE_CUDA_CALL("cuLinkComplete");
    *cubin = link->text.data();
    *size = link->text.size() + 1;
    return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState link) {
    FAKE_CUDA_CALL("cuLinkDestroy");
    delete link;
    return CUDA_SUCCESS;
}
