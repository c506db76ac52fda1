// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdio>

#include "gpu/soak/driver.h"
#include "runtime/abi/runtime_cuda.h"

namespace {

struct Functions {
    int (*init)(unsigned);
    int (*count)(int *);
    int (*create)(void **, unsigned, int);
    int (*destroy)(void *);
    int (*push)(void *);
    int (*pop)(void **);
    int (*create_stream)(void **, unsigned);
    int (*sync_stream)(void *);
    int (*destroy_stream)(void *);
    int (*begin)(void *, int);
    int (*end)(void *, void **);
    int (*instantiate)(void **, void *, unsigned long long);
    int (*launch)(void *, void *);
    int (*destroy_exec)(void *);
    int (*destroy_graph)(void *);
} cuda;

constexpr char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                       ".visible .entry nothing() { ret; }\n";

/// A context is current while this lives.
struct Current {
    explicit Current(void *context) {
        cuda.push(context);
    }
    ~Current() {
        void *popped = nullptr;
        cuda.pop(&popped);
    }
};

void *make_context(int device) {
    void *context = nullptr, *popped = nullptr;
    if (cuda.create(&context, 0, device) != 0) {
        return nullptr;
    }
    cuda.pop(&popped);
    return context;
}

bool destroy_context(void *context) {
    return cuda.destroy(context) == 0;
}

void *make_stream(void *context) {
    const Current current(context);
    void *stream = nullptr;
    return cuda.create_stream(&stream, 1) == 0 ? stream : nullptr;
}

void destroy_stream(void *context, void *stream) {
    const Current current(context);
    cuda.sync_stream(stream);
    cuda.destroy_stream(stream);
}

bool capture(void *context, void *stream, void (*body)(void *), void *data) {
    const Current current(context);
    constexpr int relaxed = 2;
    void *graph = nullptr, *exec = nullptr;
    if (cuda.begin(stream, relaxed) != 0) {
        return false;
    }
    body(data);
    bool is_done = cuda.end(stream, &graph) == 0 && cuda.instantiate(&exec, graph, 0) == 0;
    is_done = is_done && cuda.launch(exec, stream) == 0 && cuda.sync_stream(stream) == 0;
    if (exec) {
        cuda.destroy_exec(exec);
    }
    if (graph) {
        cuda.destroy_graph(graph);
    }
    return is_done;
}

}  // namespace

const soak::Driver *soak::cuda_driver() {
    static Driver driver = {"CUDA",
                            calotype_cuda_device_interface,
                            0,
                            make_context,
                            destroy_context,
                            make_stream,
                            destroy_stream,
                            capture,
                            {CALOTYPE_PTX, 70, 0, ptx, sizeof ptx - 1}};
    void *library = open_driver("CT_CUDA_DRIVER_LIBRARY", "libcuda.so.1");
    if (!library) {
        return nullptr;
    }
    find(library, cuda.init, "cuInit");
    find(library, cuda.count, "cuDeviceGetCount");
    find(library, cuda.create, "cuCtxCreate_v2");
    find(library, cuda.destroy, "cuCtxDestroy_v2");
    find(library, cuda.push, "cuCtxPushCurrent_v2");
    find(library, cuda.pop, "cuCtxPopCurrent_v2");
    find(library, cuda.create_stream, "cuStreamCreate");
    find(library, cuda.sync_stream, "cuStreamSynchronize");
    find(library, cuda.destroy_stream, "cuStreamDestroy_v2");
    find(library, cuda.begin, "cuStreamBeginCapture_v2");
    find(library, cuda.end, "cuStreamEndCapture");
    find(library, cuda.instantiate, "cuGraphInstantiateWithFlags");
    find(library, cuda.launch, "cuGraphLaunch");
    find(library, cuda.destroy_exec, "cuGraphExecDestroy");
    find(library, cuda.destroy_graph, "cuGraphDestroy");
    if (cuda.init(0) != 0 || cuda.count(&driver.devices) != 0 || driver.devices == 0) {
        std::printf("no device of CUDA\n");
        return nullptr;
    }
    return &driver;
}
