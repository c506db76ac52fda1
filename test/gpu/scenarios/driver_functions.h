// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of the CUDA driver that tests on a GPU call themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <dlfcn.h>

namespace calotype_test {

struct CudaFunctions {
    int (*init)(unsigned);
    int (*ctx_create)(void **, unsigned, int);
    int (*ctx_destroy)(void *);
    int (*ctx_push)(void *);
    int (*ctx_pop)(void **);
    int (*ctx_current)(void **);
    int (*primary_retain)(void **, int);
    int (*primary_reset)(int);
    int (*stream_create)(void **, unsigned);
    int (*stream_sync)(void *);
    int (*call_host)(void *, void (*)(void *), void *);
    int (*alloc)(uint64_t *, size_t);
    int (*free)(uint64_t);
    int (*memory)(size_t *, size_t *);
    int (*set)(uint64_t, unsigned char, size_t);
    int (*to_host)(void *, uint64_t, size_t);
    int (*to_device)(uint64_t, const void *, size_t);
    int (*load)(void **, const void *);
    int (*unload)(void *);
    int (*function)(void **, void *, const char *);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                  void *, void **, void **);
    bool is_there;

    CudaFunctions() {
        void *library = dlopen("libcuda.so.1", RTLD_NOW);
        const auto find = [&](auto &to, const char *name) {
            void *found = library ? dlsym(library, name) : nullptr;
            to = reinterpret_cast<std::decay_t<decltype(to)>>(found);
            return found != nullptr;
        };
        is_there = find(init, "cuInit") && find(ctx_create, "cuCtxCreate_v2") &&
                   find(ctx_destroy, "cuCtxDestroy_v2") && find(ctx_push, "cuCtxPushCurrent_v2") &&
                   find(ctx_pop, "cuCtxPopCurrent_v2") && find(ctx_current, "cuCtxGetCurrent") &&
                   find(primary_retain, "cuDevicePrimaryCtxRetain") &&
                   find(primary_reset, "cuDevicePrimaryCtxReset_v2") &&
                   find(stream_create, "cuStreamCreate") &&
                   find(stream_sync, "cuStreamSynchronize") &&
                   find(call_host, "cuLaunchHostFunc") && find(alloc, "cuMemAlloc_v2") &&
                   find(free, "cuMemFree_v2") && find(memory, "cuMemGetInfo_v2") &&
                   find(set, "cuMemsetD8_v2") && find(to_host, "cuMemcpyDtoH_v2") &&
                   find(to_device, "cuMemcpyHtoD_v2") && find(load, "cuModuleLoadData") &&
                   find(unload, "cuModuleUnload") && find(function, "cuModuleGetFunction") &&
                   find(launch, "cuLaunchKernel") && init(0) == 0;
    }
};

inline const CudaFunctions &cuda_functions() {
    static const CudaFunctions functions;
    return functions;
}

}  // namespace calotype_test
