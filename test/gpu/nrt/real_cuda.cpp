// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "gpu/nrt/real_cuda.h"

#include <gtest/gtest.h>

#include <dlfcn.h>

#include "runtime/abi/kernel_cache.h"
#include "runtime/abi/runtime_cuda.h"

namespace calotype_test {

namespace {

struct Driver {
    int (*init)(unsigned);
    int (*ctx_create)(void **, unsigned, int);
    int (*ctx_destroy)(void *);
    int (*ctx_push)(void *);
    int (*ctx_pop)(void **);
    int (*stream_create)(void **, unsigned);
    int (*stream_sync)(void *);
    int (*alloc)(uint64_t *, size_t);
    int (*set)(uint64_t, unsigned char, size_t);
    int (*to_host)(void *, uint64_t, size_t);
    bool is_there;

    Driver() {
        void *library = dlopen("libcuda.so.1", RTLD_NOW);
        const auto find = [&](auto &to, const char *name) {
            void *found = library ? dlsym(library, name) : nullptr;
            to = reinterpret_cast<std::decay_t<decltype(to)>>(found);
            return found != nullptr;
        };
        is_there = find(init, "cuInit") && find(ctx_create, "cuCtxCreate_v2") &&
                   find(ctx_destroy, "cuCtxDestroy_v2") && find(ctx_push, "cuCtxPushCurrent_v2") &&
                   find(ctx_pop, "cuCtxPopCurrent_v2") && find(stream_create, "cuStreamCreate") &&
                   find(stream_sync, "cuStreamSynchronize") && find(alloc, "cuMemAlloc_v2") &&
                   find(set, "cuMemsetD8_v2") && find(to_host, "cuMemcpyDtoH_v2") && init(0) == 0;
    }
};
const Driver &cuda() {
    static const Driver driver;
    return driver;
}

/// The context is current meanwhile.
class Current {
public:
    explicit Current(const calotype_device_context &on) {
        EXPECT_EQ(0, cuda().ctx_push(on.context));
    }
    ~Current() {
        void *popped = nullptr;
        EXPECT_EQ(0, cuda().ctx_pop(&popped));
    }
};

}  // namespace

bool has_real_cuda() {
    return cuda().is_there && calotype_cuda_can_run(70);
}

RealContext::RealContext() : on(CALOTYPE_DEVICE_CONTEXT(nullptr, nullptr)) {
    void *popped = nullptr;
    EXPECT_EQ(0, cuda().ctx_create(&on.context, 0, 0));
    EXPECT_EQ(0, cuda().stream_create(&on.stream, 1));
    EXPECT_EQ(0, cuda().ctx_pop(&popped));
}

RealContext::~RealContext() {
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(&on, CALOTYPE_REL_BUSY, 0));
    EXPECT_EQ(0, cuda().ctx_destroy(on.context));
}

uint64_t RealContext::allocate(size_t bytes) {
    uint64_t memory = 0;
    {
        Current current(on);
        EXPECT_EQ(0, cuda().alloc(&memory, bytes));
    }
    zero(memory, bytes);
    return memory;
}

void RealContext::zero(uint64_t memory, size_t bytes) {
    Current current(on);
    EXPECT_EQ(0, cuda().set(memory, 0, bytes));
}

void RealContext::to_host(void *to, uint64_t from, size_t bytes) {
    synchronize();
    Current current(on);
    EXPECT_EQ(0, cuda().to_host(to, from, bytes));
}

void RealContext::synchronize() {
    Current current(on);
    EXPECT_EQ(0, cuda().stream_sync(on.stream));
}

}  // namespace calotype_test
