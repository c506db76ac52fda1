// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The callbacks: set-up allocates a generator for each pixel and starts them, tear-down frees them.
// The driver is loaded as the program runs, which therefore also starts where there is none.
#include "grain.h"

#include <atomic>
#include <cstdio>

#include <calotype/runtime/abi/linkables.h>
#include <dlfcn.h>

namespace {

constexpr size_t bytes_of_a_generator = 64;  // sizeof(curandStatePhilox4_32_10_t)
std::atomic<int> setups{0}, teardowns{0};

/// The few functions of the driver that are needed.
struct Driver {
    int (*allocate)(uint64_t *address, size_t bytes) = nullptr;
    int (*free)(uint64_t address) = nullptr;
    int (*launch)(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                  unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                  void *stream, void **arguments, void **extra) = nullptr;
    bool is_there = false;

    Driver() {
        void *library = dlopen("libcuda.so.1", RTLD_NOW);
        is_there = library && find(library, "cuMemAlloc_v2", allocate) &&
                   find(library, "cuMemFree_v2", free) && find(library, "cuLaunchKernel", launch);
    }

    template<typename F>
    static bool find(void *library, const char *name, F &function) {
        function = reinterpret_cast<F>(dlsym(library, name));
        return function != nullptr;
    }
};

const Driver &driver() {
    static const Driver the_driver;
    return the_driver;
}

int fail(const calotype_callback_args *args, const char *what, int code) {
    char text[100];
    std::snprintf(text, sizeof text, "film grain: %s failed with %d", what, code);
    args->svc->set_error(args, text);
    return 1;
}

/// Queued on the stream of the set-up, so it is done before any kernel of the pipeline begins.
int start(const calotype_callback_args *args, uint64_t states, GrainPlan plan) {
    void *function = nullptr;
    if (args->svc->get_function(args, "grain_start", &function) != CALOTYPE_OK) {
        return 1;
    }
    void *arguments[] = {&states, &plan.pixels, &plan.seed};
    const unsigned threads = 256, blocks = (unsigned(plan.pixels) + threads - 1) / threads;
    return driver().launch(function, blocks, 1, 1, threads, 1, 1, 0, args->stream, arguments,
                           nullptr);
}

}  // namespace

extern "C" {

int grain_setup(const calotype_callback_args *args) {
    setups++;
    if (!driver().is_there) {
        return fail(args, "loading the driver", 0);
    }
    const GrainPlan &plan = *static_cast<const GrainPlan *>(args->user);
    uint64_t states = 0;
    int code = driver().allocate(&states, size_t(plan.pixels) * bytes_of_a_generator);
    if (code != 0) {
        return fail(args, "allocating the generators", code);
    }
    code = start(args, states, plan);
    if (code != 0 ||
        args->svc->copy_to_global(args, "grain_states", 0, &states, sizeof states) != CALOTYPE_OK) {
        driver().free(states);
        return fail(args, "starting the generators", code);
    }
    *args->instance = reinterpret_cast<void *>(uintptr_t(states));
    return 0;
}

int grain_teardown(const calotype_callback_args *args) {
    teardowns++;
    // With the context its memory has gone.
    const bool lost = !args->module;
    const int code = lost ? 0 : driver().free(uint64_t(uintptr_t(*args->instance)));
    return code == 0 ? 0 : fail(args, "freeing the generators", code);
}

GrainCalls grain_calls() {
    return {setups, teardowns};
}

}  // extern "C"
