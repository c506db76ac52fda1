// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cuda_contexts.h"

#include <dlfcn.h>

namespace {

/// The few functions of the driver that the application needs itself.
struct Driver {
    int (*init)(unsigned) = nullptr;
    int (*create_context)(void **, unsigned, int) = nullptr;
    int (*destroy_context)(void *) = nullptr;
    int (*push)(void *) = nullptr;
    int (*pop)(void **) = nullptr;
    int (*create_stream)(void **, unsigned) = nullptr;
    bool is_there = false;

    Driver() {
        void *library = dlopen("libcuda.so.1", RTLD_NOW);
        is_there = library && find(library, "cuInit", init) &&
                   find(library, "cuCtxCreate_v2", create_context) &&
                   find(library, "cuCtxDestroy_v2", destroy_context) &&
                   find(library, "cuCtxPushCurrent_v2", push) &&
                   find(library, "cuCtxPopCurrent_v2", pop) &&
                   find(library, "cuStreamCreate", create_stream) && init(0) == 0;
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

}  // namespace

CudaContext::CudaContext() {
    if (!driver().is_there) {
        why_ = "there is no CUDA driver";
        return;
    }
    void *popped = nullptr;
    if (driver().create_context(&context_, 0, 0) != 0) {
        context_ = nullptr;
        why_ = "the driver makes no context on device 0";
        return;
    }
    driver().pop(&popped);
}

CudaContext::~CudaContext() {
    if (context_) {
        driver().destroy_context(context_);
    }
}

void *CudaContext::make_stream() const {
    void *stream = nullptr, *popped = nullptr;
    driver().push(context_);
    const unsigned non_blocking = 1;
    driver().create_stream(&stream, non_blocking);
    driver().pop(&popped);
    return stream;
}
