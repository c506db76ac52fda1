// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches, and what generated code calls.
#include "runtime/device/cache/launch.h"

#include <string.h>

#include "runtime/device/cache/kernel_cache.h"
#include "runtime/device/cache/steps.h"
#include "runtime/device/failure.h"
#include "runtime/host/log.h"
#include "runtime/host/weak.h"

using namespace calotype::runtime;

namespace calotype::runtime {

namespace {

Text &operator<<(Text &text, const uint32_t (&size)[3]) {
    return text << size[0] << " x " << size[1] << " x " << size[2];
}

calotype_status refuse(calotype_status status, const LoadedModule &module, const Text &text) {
    return fail(status, CALOTYPE_ST_LAUNCH, module.desc.name, text);
}

/** "kernel NAME, grid 8 x 1 x 1, block 32 x 4 x 1, 0 bytes of dynamic shared memory: " */
void describe(const Launch &launch, const calotype_kernel_desc &kernel, Text &text) {
    const uint32_t grid[3] = {launch.grid[0], launch.grid[1], launch.grid[2]};
    const uint32_t block[3] = {launch.block[0], launch.block[1], launch.block[2]};
    text << "kernel " << kernel.name << ", grid " << grid << ", block " << block << ", "
         << launch.dynamic_shared_bytes << " bytes of dynamic shared memory: ";
}

__attribute__((cold, noinline)) calotype_status
refuse_size(const LoadedModule &module, const Launch &launch, bool is_empty, uint64_t threads) {
    const calotype_kernel_desc &kernel = module.desc.kernels[launch.kernel];
    Text text;
    describe(launch, kernel, text);
    if (is_empty) {
        text << "grid and block must have at least one element in each dimension";
    } else {
        text << threads << " threads a block, the kernel was compiled for at most "
             << kernel.max_threads;
    }
    return refuse(CALOTYPE_E_LAUNCH, module, text);
}

}  // namespace

// What every launch goes through: short, without loops, with what fails elsewhere, and flattened into
// the two calls at the end, since after a launch of the driver each line of code is fetched anew.

calotype_status check_launch(const LoadedModule &module, const Launch &launch) {
    const uint32_t *grid = launch.grid, *block = launch.block;
    const uint32_t most = module.desc.kernels[launch.kernel].max_threads;
    const uint64_t threads = uint64_t(block[0]) * block[1] * block[2];
    const bool is_empty = (grid[0] == 0) | (grid[1] == 0) | (grid[2] == 0) | (block[0] == 0) |
                          (block[1] == 0) | (block[2] == 0);
    return is_empty || (most && threads > most) ? refuse_size(module, launch, is_empty, threads)
                                                : CALOTYPE_OK;
}

/** A launch that an application captures needs its module for as long as the graph lives. */
static inline calotype_status keep_for_capture(const LoadedModule &module, const DeviceScope &scope,
                                               void *stream) {
    const KernelBackend &backend = *module.backend;
    const uint64_t capture = backend.capture_of ? backend.capture_of(scope, stream) : 0;
    return capture ? pin_for_graph(module, scope, stream, capture) : CALOTYPE_OK;
}

/** The back end did not launch, and has told why. */
__attribute__((cold, noinline)) static calotype_status report(const Launch &launch,
                                                              const LoadedModule &module,
                                                              const DeviceScope *scope,
                                                              calotype_status status) {
    Text text;
    describe(launch, module.desc.kernels[launch.kernel], text);
    if (scope && module.backend->name_device) {
        module.backend->name_device(*scope, text);
        text << ": ";
    }
    replace_failure(text << failure_text());
    return fail(
        Failure{.status = status, .stage = CALOTYPE_ST_LAUNCH, .module_name = module.desc.name});
}

calotype_status acquire_held(const LoadedModule &module, void *user_context, DeviceScope *scope) {
    const KernelBackend &backend = *module.backend;
    return backend.acquire_held ? backend.acquire_held(user_context, module.scope, scope)
                                : backend.acquire(user_context, scope);
}

__attribute__((noinline)) static void log_launch(const Launch &launch, const LoadedModule &module) {
    Text text;
    describe(launch, module.desc.kernels[launch.kernel], text);
    log_line(LogTopic::launch, Text() << text.c_str() << module.desc.name << " in context "
                                      << module.scope.context_uid);
}

calotype_status launch_now(const LoadedModule &module, const Launch &launch) {
    const KernelBackend &backend = *module.backend;
    if (backend.launch_at_once &&
        backend.launch_at_once(launch.user_context, module.scope, module.functions[launch.kernel],
                               launch.grid, launch.block, launch.dynamic_shared_bytes,
                               launch.stream, launch.args)) {
        if (is_logged(LogTopic::launch)) {
            log_launch(launch, module);
        }
        return CALOTYPE_OK;
    }
    const calotype_kernel_desc &kernel = module.desc.kernels[launch.kernel];
    DeviceScope scope;
    const FailureScope failures;
    calotype_status status = acquire_held(module, launch.user_context, &scope);
    if (status != CALOTYPE_OK) {
        return report(launch, module, nullptr, status);
    }
    void *const stream = launch.stream ? launch.stream : scope.stream;
    status = keep_for_capture(module, scope, stream);
    if (status == CALOTYPE_OK) {
        status = backend.launch(scope, module.functions[launch.kernel],
                                launch.as ? *launch.as : kernel, launch.grid, launch.block,
                                launch.dynamic_shared_bytes, stream, launch.args);
    }
    if (status != CALOTYPE_OK) {
        report(launch, module, &scope, status);
    } else if (is_logged(LogTopic::launch)) {
        log_launch(launch, module);
    }
    backend.end(scope);
    return status;
}

/** Why find_kernel() finds none. */
__attribute__((cold, noinline)) static calotype_status
refuse_kernel(const calotype_hold &hold, uint64_t word, uint32_t kernel) {
    if (!hold.entry || generation_of(word) != hold.generation >> thread_bits) {
        return fail(CALOTYPE_E_INVALID, CALOTYPE_ST_LAUNCH, nullptr, "the module is not held");
    }
    if (phase_of(word) != Phase::ready) {
        return fail(CALOTYPE_E_CONTEXT_LOST, CALOTYPE_ST_LAUNCH, nullptr,
                    "the module was unloaded although it is held");
    }
    const LoadedModule &module = *hold.entry->module;
    return refuse(CALOTYPE_E_INVALID, module,
                  Text() << "kernel number " << kernel << ", there are " << module.n_functions);
}

calotype_status find_kernel(const calotype_hold &hold, uint32_t kernel,
                            const LoadedModule **module) {
    const uint64_t word = hold.entry ? hold.entry->word.load(std::memory_order_acquire) : 0;
    if (!hold.entry || generation_of(word) != hold.generation >> thread_bits ||
        phase_of(word) != Phase::ready || kernel >= hold.entry->module->n_functions) {
        return refuse_kernel(hold, word, kernel);
    }
    *module = hold.entry->module;
    return CALOTYPE_OK;
}

calotype_status launch_held(const calotype_hold &hold, const Launch &launch) {
    const LoadedModule *module = nullptr;
    calotype_status status = find_kernel(hold, launch.kernel, &module);
    status = status == CALOTYPE_OK ? check_launch(*module, launch) : status;
    return status == CALOTYPE_OK ? launch_now(*module, launch) : status;
}

__attribute__((cold, noinline)) static calotype_status
refuse_shape(const calotype_hold &hold, uint32_t kernel, const int32_t shape[7]) {
    static const char *const names[] = {
        "grid x", "grid y", "grid z", "block x", "block y", "block z", "dynamic shared bytes"};
    const LoadedModule *module = nullptr;
    if (const calotype_status status = find_kernel(hold, kernel, &module)) {
        return status;
    }
    int i = 0;
    while (shape[i] >= 0) {
        i++;
    }
    Text text;
    text << "kernel " << module->desc.kernels[kernel].name << ": ";
    if (module->backend->name_device) {
        module->backend->name_device(module->scope, text);
        text << ": ";
    }
    text << names[i] << " is " << shape[i] << ", must not be negative";
    return refuse(CALOTYPE_E_LAUNCH, *module, text);
}

calotype_status read_shape(const calotype_hold &hold, uint32_t kernel, const int32_t shape[7],
                           LaunchShape *out) {
    memcpy(out->size, shape, sizeof out->size);
    out->is_empty = (shape[0] == 0) | (shape[1] == 0) | (shape[2] == 0);
    const int32_t all = shape[0] | shape[1] | shape[2] | shape[3] | shape[4] | shape[5] | shape[6];
    return all < 0 ? refuse_shape(hold, kernel, shape) : CALOTYPE_OK;
}

}  // namespace calotype::runtime

CALOTYPE_WEAK __attribute__((flatten)) calotype_status
calotype_launch(void *user_context, calotype_hold hold, uint32_t kernel, const uint32_t grid[3],
                const uint32_t block[3], uint32_t dynamic_shared_bytes, void *stream, void **args) {
    return launch_held(
        hold, Launch{user_context, kernel, grid, block, dynamic_shared_bytes, stream, args});
}

CALOTYPE_WEAK int calotype_begin_kernels(void *user_context, const calotype_module_desc *desc,
                                         calotype_hold *out) {
    const calotype_status status = calotype_initialize_kernels(user_context, desc, nullptr, out);
    if (status == CALOTYPE_OK) {
        Range::begin("run", desc->name);
        return 0;
    }
    return calotype_report_status(user_context, status);
}

CALOTYPE_WEAK __attribute__((flatten)) int
calotype_run_kernel(void *user_context, const calotype_hold *hold, uint32_t kernel,
                    const int32_t shape[7], void **args) {
    LaunchShape given;
    calotype_status status = read_shape(*hold, kernel, shape, &given);
    if (status == CALOTYPE_OK && !given.is_empty) {
        status = launch_held(*hold, given.launch(user_context, kernel, args));
    }
    return status == CALOTYPE_OK ? 0 : calotype_report_status(user_context, status);
}

CALOTYPE_WEAK void calotype_end_kernels(void *user_context, void *hold) {
    calotype_hold *given = static_cast<calotype_hold *>(hold);
    if (given && given->entry) {
        calotype_finalize_kernels(user_context, given);
        Range::end();
    }
}
