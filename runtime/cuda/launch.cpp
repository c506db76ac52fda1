// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The driver checks launches anyway, so nothing is checked before; when it refuses one, the limits
// are asked for and compared to say what is wrong. The cache's message begins with kernel and
// shape.
#include "runtime/cuda/kernels.h"

#include "runtime/cuda/context.h"
#include "runtime/device/failure.h"

namespace calotype::runtime::cuda {

namespace {

struct Launch {
    const DeviceInfo &device;
    CUfunction function;
    const uint32_t *grid, *block;
    uint32_t dynamic_shared_bytes;
};

int ask(CUfunction function, CUfunction_attribute attribute) {
    int value = 0;
    driver().cuFuncGetAttribute(&value, attribute, function);
    return value;
}

void explain_axes(Text &text, const char *of, const uint32_t extent[3], const int limit[3]) {
    for (int i = 0; i < 3; i++) {
        if (extent[i] > uint32_t(limit[i]) || extent[i] == 0) {
            text << "; the " << of << " is " << extent[i] << " in "
                 << "xyz"[i] << ", the device allows 1 to " << limit[i];
        }
    }
}

void explain_block(Text &text, const Launch &launch) {
    const uint64_t threads = uint64_t(launch.block[0]) * launch.block[1] * launch.block[2];
    const int of_kernel = ask(launch.function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    if (threads > uint64_t(launch.device.max_threads)) {
        text << "; a block has " << threads << " threads, the device allows "
             << launch.device.max_threads;
    } else if (of_kernel > 0 && threads > uint64_t(of_kernel)) {
        const int registers = ask(launch.function, CU_FUNC_ATTRIBUTE_NUM_REGS);
        text << "; a block has " << threads << " threads, the kernel allows " << of_kernel
             << " with its " << registers << " registers a thread";
    }
}

void explain_shared_memory(Text &text, const Launch &launch) {
    const int fixed = ask(launch.function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    const int limit = launch.device.max_shared_opt_in;
    if (uint64_t(fixed) + launch.dynamic_shared_bytes > uint64_t(limit)) {
        text << "; a block takes " << uint64_t(fixed) + launch.dynamic_shared_bytes
             << " bytes of shared memory, the device allows " << limit;
    }
}

bool is_about_the_launch(CUresult code) {
    return code == CUDA_ERROR_INVALID_VALUE || code == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
}

}  // namespace

__attribute__((cold, noinline)) static calotype_status
explain(const DeviceScope &scope, const Launch &launch, CUresult code) {
    Text text;
    text << "cuLaunchKernel: ";
    append_result(text, code);
    if (is_about_the_launch(code)) {
        explain_axes(text, "grid", launch.grid, launch.device.max_grid);
        explain_axes(text, "block", launch.block, launch.device.max_block);
        explain_block(text, launch);
        explain_shared_memory(text, launch);
    }
    set_failure(text, code);
    return is_about_the_launch(code) ? CALOTYPE_E_LAUNCH : status_in(scope, code);
}

static inline CUresult launch_on(CUstream stream, const Launch &launch, void **args) {
    return driver().cuLaunchKernel(launch.function, launch.grid[0], launch.grid[1], launch.grid[2],
                                   launch.block[0], launch.block[1], launch.block[2],
                                   launch.dynamic_shared_bytes, stream, args, nullptr);
}

bool launch_at_once(void *user_context, const DeviceScope &held, void *function,
                    const uint32_t grid[3], const uint32_t block[3], uint32_t dynamic_shared_bytes,
                    void *stream, void **args) {
    const Driver &d = driver();
    CUstream on = nullptr;
    if (!is_asked_for(user_context, held, &on)) {
        return false;
    }
    on = stream ? static_cast<CUstream>(stream) : on;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (!names_its_context(on) ||
        (d.has_user_objects && (d.cuStreamIsCapturing(on, &status) != CUDA_SUCCESS ||
                                status != CU_STREAM_CAPTURE_STATUS_NONE))) {
        return false;
    }
    note_stream(context_info(held), on);
    return d.cuLaunchKernel(static_cast<CUfunction>(function), grid[0], grid[1], grid[2], block[0],
                            block[1], block[2], dynamic_shared_bytes, on, args,
                            nullptr) == CUDA_SUCCESS;
}

/** After a launch without its context current has answered `code`. */
__attribute__((noinline)) static calotype_status launch_inside(const DeviceScope &scope,
                                                               const Launch &launch,
                                                               CUstream stream, void **args,
                                                               CUresult code) {
    if (const calotype_status status = enter(scope)) {
        return status;
    }
    if (code == CUDA_ERROR_INVALID_CONTEXT) {
        code = launch_on(stream, launch, args);
    }
    const calotype_status status =
        code == CUDA_SUCCESS ? CALOTYPE_OK : explain(scope, launch, code);
    leave(scope);
    return status;
}

calotype_status launch(const DeviceScope &scope, void *function, const calotype_kernel_desc &,
                       const uint32_t grid[3], const uint32_t block[3],
                       uint32_t dynamic_shared_bytes, void *stream, void **args) {
    const Launch wanted = {*context_info(scope).device, static_cast<CUfunction>(function), grid,
                           block, dynamic_shared_bytes};
    CUstream on = static_cast<CUstream>(stream ? stream : scope.stream);
    // Pushing and popping a context takes a lock of the driver, 2 us with 16 threads. Where the
    // stream says which context is meant, only older drivers want it current all the same.
    CUresult code = CUDA_ERROR_INVALID_CONTEXT;
    if (names_its_context(on)) {
        note_stream(context_info(scope), on);
        code = launch_on(on, wanted, args);
    }
    return code == CUDA_SUCCESS ? CALOTYPE_OK : launch_inside(scope, wanted, on, args, code);
}

}  // namespace calotype::runtime::cuda
