// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The driver's functions that an application calls which captures streams, or makes graphs itself.
#pragma once

#include <cstdint>
#include <type_traits>

#include <dlfcn.h>

namespace calotype_test {

/** CUDA_KERNEL_NODE_PARAMS of the functions without a suffix. */
struct KernelNode {
    void *function;
    unsigned grid[3], block[3], shared_bytes;
    void **args, **extra;
};

struct GraphDriver {
    int (*init)(unsigned);
    int (*retain)(void **, int);
    int (*set_current)(void *);
    int (*ctx_create)(void **, unsigned, int);
    int (*ctx_pop)(void **);
    int (*ctx_destroy)(void *);
    int (*stream_create)(void **, unsigned);
    int (*stream_sync)(void *);
    int (*begin_capture)(void *, int);
    int (*end_capture)(void *, void **);
    int (*graph_create)(void **, unsigned);
    int (*add_kernel)(void **, void *, void *const *, size_t, const KernelNode *);
    int (*instantiate)(void **, void *, unsigned long long);
    int (*set_params)(void *, void *, const KernelNode *);
    int (*launch_graph)(void *, void *);
    int (*exec_destroy)(void *);
    int (*graph_destroy)(void *);
    int (*load)(void **, const void *);
    int (*function)(void **, void *, const char *);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                  void *, void **, void **);
    int (*alloc)(uint64_t *, size_t);

    /** False: there is no driver that has them all. */
    bool open() {
        void *library = dlopen("libcuda.so.1", RTLD_NOW);
        const auto get = [&](auto &to, const char *name) {
            void *found = library ? dlsym(library, name) : nullptr;
            to = reinterpret_cast<std::decay_t<decltype(to)>>(found);
            return found != nullptr;
        };
        return get(init, "cuInit") && get(retain, "cuDevicePrimaryCtxRetain") &&
               get(set_current, "cuCtxSetCurrent") && get(ctx_create, "cuCtxCreate_v2") &&
               get(ctx_pop, "cuCtxPopCurrent_v2") && get(ctx_destroy, "cuCtxDestroy_v2") &&
               get(stream_create, "cuStreamCreate") && get(stream_sync, "cuStreamSynchronize") &&
               get(begin_capture, "cuStreamBeginCapture_v2") &&
               get(end_capture, "cuStreamEndCapture") && get(graph_create, "cuGraphCreate") &&
               get(add_kernel, "cuGraphAddKernelNode") &&
               get(instantiate, "cuGraphInstantiateWithFlags") &&
               get(set_params, "cuGraphExecKernelNodeSetParams") &&
               get(launch_graph, "cuGraphLaunch") && get(exec_destroy, "cuGraphExecDestroy") &&
               get(graph_destroy, "cuGraphDestroy") && get(load, "cuModuleLoadData") &&
               get(function, "cuModuleGetFunction") && get(launch, "cuLaunchKernel") &&
               get(alloc, "cuMemAlloc_v2") && init(0) == 0;
    }
};

}  // namespace calotype_test
