// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The runtime on the fake CUDA driver, as new for each test, with nothing left over afterwards.
#pragma once

#include <gtest/gtest.h>

#include <climits>
#include <initializer_list>
#include <map>
#include <string>

#include "harness/fake_cuda/fake_cuda.h"
#include "harness/ints.h"
#include "runtime/abi/device_context.h"
#include "runtime/abi/kernels.h"
#include "runtime/abi/runtime_cuda.h"
#include "runtime/capture.h"
#include "runtime/runtime.h"

extern "C" {
int cuCtxCreate_v2(void **context, unsigned flags, int device);
int cuCtxDestroy_v2(void *context);
int cuCtxPopCurrent_v2(void **context);
int cuCtxPushCurrent_v2(void *context);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuDevicePrimaryCtxReset_v2(int device);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamDestroy_v2(void *stream);
int cuStreamBeginCapture_v2(void *stream, int mode);
int cuStreamEndCapture(void *stream, void **graph);
int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags);
int cuGraphLaunch(void *exec, void *stream);
int cuGraphExecDestroy(void *exec);
int cuGraphDestroy(void *graph);
int cuMemAlloc_v2(uint64_t *address, size_t bytes);
}

namespace calotype_test {

class FakeCuda : public ::testing::Test {
protected:
    using Calls = std::map<std::string, long>;
    CaptureErrors errors;

    FakeCuda() {
        fake_cuda::reset();
        calotype_set_gpu_device(-1);
        start();
        // Tests count what is freed.
        calotype_reuse_device_allocations(nullptr, false);
    }
    ~FakeCuda() override {
        calotype_device_release(nullptr, cuda());
        EXPECT_EQ(0u, errors.count());
        EXPECT_EQ(0, fake_cuda::live_allocations());
        EXPECT_EQ(0, fake_cuda::live_events());
        EXPECT_EQ(0, fake_cuda::live_locked_memory());
        EXPECT_EQ(0, fake_cuda::misuse());
        EXPECT_EQ(0, fake_cuda::current_depth());
        fake_cuda::reset();
        calotype_set_gpu_device(-1);
    }
    /// Find the driver anew, after the machine was changed.
    static int start() {
        return calotype_cuda_set_driver_library(CALOTYPE_FAKE_CUDA);
    }
    static const calotype_device_interface_t *cuda() {
        return calotype_cuda_device_interface();
    }
    /// A context that is not current.
    static void *make_context(int device = 0) {
        void *context = nullptr, *popped = nullptr;
        EXPECT_EQ(0, cuCtxCreate_v2(&context, 0, device));
        EXPECT_EQ(0, cuCtxPopCurrent_v2(&popped));
        return context;
    }
    static void *make_stream(void *context, unsigned flags = 0) {
        void *stream = nullptr, *popped = nullptr;
        EXPECT_EQ(0, cuCtxPushCurrent_v2(context));
        EXPECT_EQ(0, cuStreamCreate(&stream, flags));
        EXPECT_EQ(0, cuCtxPopCurrent_v2(&popped));
        return stream;
    }
    /// The calls that f makes of those functions of the driver.
    template<typename F>
    static Calls calls_of(std::initializer_list<const char *> names, F f) {
        Calls made;
        for (const char *name : names) {
            made[name] = -fake_cuda::calls(name);
        }
        f();
        for (const char *name : names) {
            if ((made[name] += fake_cuda::calls(name)) == 0) {
                made.erase(name);
            }
        }
        return made;
    }
};

}  // namespace calotype_test
