// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "gpu/nrt/real_cuda.h"
#include "harness/on_context.h"

#include <gtest/gtest.h>

#include "gpu/scenarios/driver_functions.h"
#include "runtime/abi/kernel_cache.h"
#include "runtime/abi/runtime_cuda.h"

namespace calotype_test {

namespace {

/// The context is current meanwhile.
class Current {
public:
    explicit Current(const calotype_device_context &on) {
        EXPECT_EQ(0, cuda_functions().ctx_push(on.context));
    }
    ~Current() {
        void *popped = nullptr;
        EXPECT_EQ(0, cuda_functions().ctx_pop(&popped));
    }
};

}  // namespace

bool has_real_cuda() {
    return cuda_functions().is_there && calotype_cuda_can_run(70);
}

RealContext::RealContext() : on(CALOTYPE_DEVICE_CONTEXT(nullptr, nullptr)) {
    void *popped = nullptr;
    EXPECT_EQ(0, cuda_functions().ctx_create(&on.context, 0, 0));
    EXPECT_EQ(0, cuda_functions().stream_create(&on.stream, 1));
    EXPECT_EQ(0, cuda_functions().ctx_pop(&popped));
}

RealContext::~RealContext() {
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(calotype_test::on(&on), CALOTYPE_REL_BUSY, 0));
    EXPECT_EQ(0, cuda_functions().ctx_destroy(on.context));
}

uint64_t RealContext::allocate(size_t bytes) {
    uint64_t memory = 0;
    {
        Current current(on);
        EXPECT_EQ(0, cuda_functions().alloc(&memory, bytes));
    }
    zero(memory, bytes);
    return memory;
}

void RealContext::zero(uint64_t memory, size_t bytes) {
    Current current(on);
    EXPECT_EQ(0, cuda_functions().set(memory, 0, bytes));
}

void RealContext::to_host(void *to, uint64_t from, size_t bytes) {
    synchronize();
    Current current(on);
    EXPECT_EQ(0, cuda_functions().to_host(to, from, bytes));
}

void RealContext::synchronize() {
    Current current(on);
    EXPECT_EQ(0, cuda_functions().stream_sync(on.stream));
}

}  // namespace calotype_test
