// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules, functions and events. Contexts stand in context.cpp, images in build_image.cpp.
#include "runtime/cuda/kernels.h"

#include <stdlib.h>

#include "runtime/cuda/build_image.h"
#include "runtime/cuda/captures.h"
#include "runtime/cuda/context.h"
#include "runtime/cuda/context_table.h"
#include "runtime/cuda/memory/allocators.h"
#include "runtime/cuda/memory/memory.h"
#include "runtime/device/failure.h"
#include "runtime/host/timed_wait.h"

namespace calotype::runtime::cuda {

namespace {

calotype_status describe(const DeviceScope &scope, DeviceArch *arch) {
    const DeviceInfo &device = *context_info(scope).device;
    arch->sm = uint32_t(device.sm);
    arch->suffix = device.sm >= 90 ? 'a' : 0;
    return CALOTYPE_OK;
}

/** For build_image(), if the driver has a linker. */
struct Tools {
    const Driver &d = driver();
    const DriverLinker linker;
    const BuildTools tools = {
        d.version,
        linker.create &&linker.add &&linker.complete &&linker.destroy ? &linker : nullptr};

    explicit Tools(const DeviceScope &scope)
        : linker{d.cuLinkCreate, d.cuLinkAddData, d.cuLinkComplete, d.cuLinkDestroy, enter, leave,
                 scope} {
    }
};

void describe_tools(const DeviceScope &scope, DeviceArch *arch) {
    describe_build_tools(Tools(scope).tools, arch);
}

calotype_status build(const DeviceScope &scope, const DeviceArch &arch,
                      const calotype_module_desc &desc, LoadableImage *image) {
    return build_image(Tools(scope).tools, arch, desc, image);
}

calotype_status status_of_load(CUresult code) {
    switch (code) {
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
        return CALOTYPE_E_COMPILE;
    default:
        return status_of(code, CALOTYPE_E_LOAD);
    }
}

/** PTX, which the driver compiles: with room for what it has to say. */
CUresult load_text(const LoadableImage &image, const calotype_module_desc &desc, CUmodule *loaded,
                   char *text, size_t size) {
    CUjit_option options[3] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[3] = {text, reinterpret_cast<void *>(size)};
    unsigned count = 2;
    if (desc.max_registers > 0) {
        options[count] = CU_JIT_MAX_REGISTERS;
        values[count++] = reinterpret_cast<void *>(size_t(desc.max_registers));
    }
    return driver().cuModuleLoadDataEx(loaded, image.bytes, count, options, values);
}

calotype_status load(const DeviceScope &scope, const calotype_module_desc &desc,
                     const LoadableImage &image, void **module) {
    constexpr size_t room = 16384;
    char *text = image.kind == CALOTYPE_PTX ? static_cast<char *>(calloc(1, room)) : nullptr;
    CUmodule loaded = nullptr;
    const CUresult code =
        text ? load_text(image, desc, &loaded, text, room - 1)
             : driver().cuModuleLoadDataEx(&loaded, image.bytes, 0, nullptr, nullptr);
    calotype_status status = CALOTYPE_OK;
    if (code != CUDA_SUCCESS) {
        Text why;
        why << "cuModuleLoadDataEx: ";
        append_result(why, code);
        if (text && text[0]) {
            why << '\n' << text;
        }
        set_failure(why, code);
        status = status_in(scope, code, CALOTYPE_E_LOAD);
        status = status == CALOTYPE_E_LOAD ? status_of_load(code) : status;
    }
    free(text);
    *module = loaded;
    return status;
}

calotype_status unload(const DeviceScope &scope, void *module) {
    return status_in(scope, invoke(&Driver::cuModuleUnload, static_cast<CUmodule>(module)));
}

/** Let the kernel have all the shared memory that the device gives on request. */
CUresult allow_shared_memory(const DeviceInfo &device, CUfunction function) {
    if (device.max_shared_opt_in <= device.max_shared) {
        return CUDA_SUCCESS;
    }
    int fixed = 0;
    CUresult code =
        driver().cuFuncGetAttribute(&fixed, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function);
    if (code == CUDA_SUCCESS) {
        code =
            driver().cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                        device.max_shared_opt_in - fixed);
    }
    return code;
}

calotype_status get_function(const DeviceScope &scope, void *module, const char *name,
                             void **function) {
    CUfunction found = nullptr;
    const char *call = "cuModuleGetFunction";
    CUresult code = driver().cuModuleGetFunction(&found, static_cast<CUmodule>(module), name);
    if (code == CUDA_SUCCESS && driver().cuFuncLoad) {
        // Where the driver loads lazily, or the first launch would wait for it.
        call = "cuFuncLoad";
        code = driver().cuFuncLoad(found);
    }
    if (code == CUDA_SUCCESS) {
        call = "cuFuncSetAttribute";
        code = allow_shared_memory(*context_info(scope).device, found);
    }
    *function = found;
    if (code == CUDA_SUCCESS) {
        return CALOTYPE_OK;
    }
    Text why;
    why << "kernel " << name << ": " << call << ": ";
    append_result(why, code);
    return fail_with(status_in(scope, code, CALOTYPE_E_LOAD), why, code);
}

calotype_status get_global(const DeviceScope &scope, void *module, const char *name,
                           uint64_t *address, size_t *bytes) {
    const CUresult code =
        driver().cuModuleGetGlobal(address, bytes, static_cast<CUmodule>(module), name);
    if (code == CUDA_ERROR_NOT_FOUND) {
        return fail_with(CALOTYPE_E_INVALID, Text() << "the module has no variable " << name);
    }
    return status_in(scope, note_failure("cuModuleGetGlobal", code));
}

/** A copy on the scope's stream, to its end. */
template<typename Function, typename... Args>
calotype_status copy_now(const DeviceScope &scope, const char *if_captured,
                         Function Driver::*function, Args... args) {
    if (is_capturing(scope, nullptr)) {
        return fail_with(CALOTYPE_E_CAPTURE, if_captured);
    }
    const CUstream stream = static_cast<CUstream>(scope.stream);
    CUresult code = invoke(function, args..., stream);
    if (code == CUDA_SUCCESS) {
        code = invoke(&Driver::cuStreamSynchronize, stream);
    }
    return status_in(scope, code);
}

calotype_status copy_to_device(const DeviceScope &scope, uint64_t address, const void *source,
                               size_t bytes) {
    return copy_now(scope, "a copy from the host would wait, but the stream is being captured",
                    &Driver::cuMemcpyHtoDAsync, address, source, bytes);
}

calotype_status synchronize(const DeviceScope &scope) {
    return status_in(scope, invoke(&Driver::cuCtxSynchronize));
}

// ---- what the device runtime needs -------------------------------------------------------------

/** Not of the pool: it must outlive the work of all streams. */
calotype_status allocate_plain(const DeviceScope &scope, size_t bytes, uint64_t *address) {
    return status_of(invoke(&Driver::cuMemAlloc, address, bytes));
}

calotype_status free_plain(const DeviceScope &scope, uint64_t address) {
    return status_of(invoke(&Driver::cuMemFree, address));
}

calotype_status copy_to_host(const DeviceScope &scope, void *destination, uint64_t address,
                             size_t bytes) {
    return copy_now(scope, "a copy to the host would wait, but the stream is being captured",
                    &Driver::cuMemcpyDtoHAsync, destination, address, bytes);
}

calotype_status set_heap_size(const DeviceScope &scope, uint64_t bytes) {
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

// ---- events ----------------------------------------------------------------------------------

/** Poll the event until it has passed or the deadline has. */
bool await_event(CUevent event, uint64_t deadline_ns) {
    CUresult code = CUDA_ERROR_NOT_READY;
    poll_until(deadline_ns,
               [&] { return (code = driver().cuEventQuery(event)) != CUDA_ERROR_NOT_READY; });
    return code == CUDA_SUCCESS;
}

/** Drivers before 12.5 tell of the default stream and those that it waits for. */
bool await_idle(const DeviceScope &scope, uint64_t deadline_ns) {
    const Driver &d = driver();
    const FailureScope ignored;
    CUevent event = nullptr;
    bool is_idle = false;
    if (!is_capturing(scope, nullptr) && enter(scope) == CALOTYPE_OK) {
        if (d.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS) {
            const CUresult code =
                d.cuCtxRecordEvent
                    ? d.cuCtxRecordEvent(static_cast<CUcontext>(scope.context), event)
                    : d.cuEventRecord(event, nullptr);
            is_idle = code == CUDA_SUCCESS && await_event(event, deadline_ns);
            d.cuEventDestroy(event);
        }
        leave(scope);
    }
    return is_idle;
}

calotype_status record_event(const DeviceScope &scope, void *stream, void **event) {
    if (is_capturing(scope, stream)) {
        return fail_with(CALOTYPE_E_CAPTURE, "the stream is being captured");
    }
    CUevent made = nullptr;
    CUresult code = invoke(&Driver::cuEventCreate, &made, CU_EVENT_DISABLE_TIMING);
    if (code == CUDA_SUCCESS) {
        code = invoke(&Driver::cuEventRecord, made,
                      static_cast<CUstream>(stream ? stream : scope.stream));
        if (code != CUDA_SUCCESS) {
            driver().cuEventDestroy(made);
            made = nullptr;
        }
    }
    *event = made;
    return status_in(scope, code);
}

calotype_status query_event(void *event) {
    const CUresult code = driver().cuEventQuery(static_cast<CUevent>(event));
    return code == CUDA_ERROR_NOT_READY ? CALOTYPE_E_BUSY
                                        : status_of(note_failure("cuEventQuery", code));
}

void destroy_event(void *event) {
    driver().cuEventDestroy(static_cast<CUevent>(event));
}

}  // namespace

void name_device(const DeviceScope &scope, Text &text) {
    const DeviceInfo &device = *context_info(scope).device;
    text << device.name << " (sm_" << device.sm << "), driver " << driver().version / 1000 << '.'
         << driver().version % 1000 / 10;
}

static const DeviceHeap device_heap = {
    .allocate = allocate_plain,
    .deallocate = free_plain,
    .copy_to_host = copy_to_host,
    .set_size = set_heap_size,
};

static const DeviceMemoryControl memory_control = {
    .set_allocator = set_allocator,
    .set_limits = set_memory_limits,
    .add_stats = add_memory_stats,
};

const KernelBackend kernel_backend = {
    .name = "CUDA",
    .acquire = acquire,
    .release = release,
    .launch_at_once = launch_at_once,
    .acquire_held = acquire_held,
    .capture_of = capture_of,
    .launch = launch,
    .has_any = has_any_context,
    .has_context = has_context,
    .enter = enter,
    .leave = leave,
    .is_alive = is_alive,
    .is_own = is_own_context,
    .await_idle = await_idle,
    .end_context = end_context,
    .describe = describe,
    .name_device = name_device,
    .is_ready = is_image_ready,
    .describe_tools = describe_tools,
    .build = build,
    .load = load,
    .unload = unload,
    .get_function = get_function,
    .get_global = get_global,
    .copy_to_device = copy_to_device,
    .synchronize = synchronize,
    .record_event = record_event,
    .query_event = query_event,
    .destroy_event = destroy_event,
    .is_capturing = is_capturing,
    .can_replay = can_replay,
    .replay = replay,
    .close_graphs = close_graphs,
    .free_graphs = free_graphs,
    .reuse_memory = reuse_memory,
    .memory = &memory_control,
    .heap = &device_heap,
    .tie_to_graph = tie_to_graph,
};

}  // namespace calotype::runtime::cuda
