// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffers on the fake CUDA driver: memory, contexts and streams, failures at every call.
#include "harness/nothing_module.h"
#include "runtime/cuda/fixture.h"

#include <thread>

namespace {

using calotype_test::FakeCuda;
using calotype_test::Ints;

class CudaBuffers : public FakeCuda {};

TEST_F(CudaBuffers, ThereAndBack) {
    Ints a(100);
    a.buf.set_host_dirty();
    ASSERT_EQ(0, calotype_copy_to_device(nullptr, &a.buf, cuda()));
    EXPECT_EQ(1, fake_cuda::calls("cuMemcpyHtoDAsync"));
    EXPECT_EQ(42, a.on_device()[41]);
    a.on_device()[41] = -1;
    a.buf.set_device_dirty();
    ASSERT_EQ(0, calotype_copy_to_host(nullptr, &a.buf));
    EXPECT_EQ(-1, a.data[41]);
    EXPECT_EQ(a.buf.device, calotype_cuda_get_device_ptr(nullptr, &a.buf));
    EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
}

TEST_F(CudaBuffers, AWarmCallAsksForTheIdentityOnce) {
    Ints a(1);
    ASSERT_EQ(0, calotype_device_malloc(nullptr, &a.buf, cuda()));
    const long before = fake_cuda::calls("cuCtxGetId");
    EXPECT_EQ(0, calotype_device_sync(nullptr, &a.buf));
    EXPECT_EQ(before + 1, fake_cuda::calls("cuCtxGetId"));
    EXPECT_EQ(1, fake_cuda::calls("cuDevicePrimaryCtxRetain"));
    EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
}

TEST_F(CudaBuffers, ContextAndStreamOfACall) {
    void *context = make_context();
    void *stream = make_stream(context);
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, stream);
    fake_cuda::hold_stream(context, stream);
    Ints a(4), b(4);
    ASSERT_EQ(0, calotype_device_malloc(&on, &a.buf, cuda()));
    ASSERT_EQ(0, calotype_device_malloc(&on, &b.buf, cuda()));
    a.on_device()[2] = 7;
    b.on_device()[2] = 0;
    a.buf.set_device_dirty();
    EXPECT_EQ(0, calotype_buffer_copy(&on, &a.buf, cuda(), &b.buf));
    EXPECT_EQ(0, b.on_device()[2]) << "the copy must wait in the stream";
    fake_cuda::release_stream(context, stream);
    EXPECT_EQ(7, b.on_device()[2]);
    EXPECT_EQ(0, fake_cuda::calls("cuDevicePrimaryCtxRetain"));
    // Freed by calls that work elsewhere: in the context that they belong to.
    EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
    EXPECT_EQ(0, calotype_device_free(&on, &b.buf));
    EXPECT_EQ(0, fake_cuda::live_allocations());
    EXPECT_EQ(0, fake_cuda::calls("cuDevicePrimaryCtxRetain")) << "a free makes no context";
    calotype_device_release(&on, cuda());
    EXPECT_EQ(0, cuCtxDestroy_v2(context));
}

TEST_F(CudaBuffers, AContextThatIsNotOneOfCuda) {
    static const calotype_device_interface_t other = {};
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(&on, nullptr);
    on.device_interface = &other;
    Ints a(4);
    EXPECT_EQ(calotype_error_code_device_malloc_failed,
              calotype_device_malloc(&on, &a.buf, cuda()));
    EXPECT_EQ("device allocation failed: the context of the call is not one of CUDA",
              errors.take());
}

TEST_F(CudaBuffers, ThePrimaryContextIsResetAndAtTheSameAddress) {
    Ints a(4), b(4);
    ASSERT_EQ(0, calotype_device_malloc(nullptr, &a.buf, cuda()));
    const uint64_t before = fake_cuda::context_id(nullptr) + uint64_t(fake_cuda::live_contexts());
    EXPECT_EQ(1u, before);
    EXPECT_EQ(0, cuDevicePrimaryCtxReset_v2(0));
    ASSERT_EQ(0, calotype_device_malloc(nullptr, &b.buf, cuda()));
    EXPECT_EQ(2, fake_cuda::primary_retains(0));
    EXPECT_EQ(1, fake_cuda::calls("cuMemPoolCreate")) << "the pool is the device's";
    EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
    EXPECT_EQ(0, calotype_device_free(nullptr, &b.buf));
    calotype_device_release(nullptr, cuda());
    EXPECT_EQ(0, fake_cuda::primary_retains(0));
}

TEST_F(CudaBuffers, AContextIsDestroyedBehindOurBack) {
    void *context = make_context();
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, nullptr);
    Ints a(4);
    a.buf.set_host_dirty();
    ASSERT_EQ(0, calotype_copy_to_device(&on, &a.buf, cuda()));
    uint64_t uid = 0, none = 0;
    EXPECT_EQ(CALOTYPE_OK, calotype_context_uid(&on, cuda(), &uid));
    EXPECT_EQ(0, cuCtxDestroy_v2(context));
    a.buf.set_host_dirty();
    EXPECT_EQ(calotype_error_code_copy_to_device_failed,
              calotype_copy_to_device(&on, &a.buf, cuda()));
    EXPECT_EQ("copy to the device failed: cuCtxGetId: CUDA_ERROR_CONTEXT_IS_DESTROYED (709), "
              "context is destroyed",
              errors.take());
    EXPECT_NE(CALOTYPE_OK, calotype_context_uid(&on, cuda(), &none)) << "it is not there";
    EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
    EXPECT_EQ(CALOTYPE_OK, calotype_context_lost(uid));
}

TEST_F(CudaBuffers, ManyThreadsInTwoContexts) {
    void *contexts[2] = {make_context(), make_context()};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; t++) {
        threads.emplace_back([&, t] {
            calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(contexts[t % 2], nullptr);
            for (int i = 0; i < 50; i++) {
                Ints a(10 + i);
                a.buf.set_host_dirty();
                EXPECT_EQ(0, calotype_copy_to_device(&on, &a.buf, cuda()));
                a.on_device()[i] = t;
                a.buf.set_device_dirty();
                EXPECT_EQ(0, calotype_copy_to_host(&on, &a.buf));
                EXPECT_EQ(t, a.data[size_t(i)]);
                EXPECT_EQ(0, calotype_device_free(&on, &a.buf));
                EXPECT_EQ(0, fake_cuda::current_depth());
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    for (void *context : contexts) {
        calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, nullptr);
        calotype_device_release(&on, cuda());
        EXPECT_EQ(0, cuCtxDestroy_v2(context));
    }
}

TEST_F(CudaBuffers, OutOfMemory) {
    fake_cuda::set_memory(1000);
    Ints a(200), b(200);
    ASSERT_EQ(0, calotype_device_malloc(nullptr, &a.buf, cuda()));
    EXPECT_EQ(calotype_error_code_device_malloc_failed,
              calotype_device_malloc(nullptr, &b.buf, cuda()));
    EXPECT_EQ("device allocation failed: no 800 bytes on CUDA device 0: "
              "cuMemAllocFromPoolAsync: "
              "CUDA_ERROR_OUT_OF_MEMORY (2), out of memory; 200 of 1000 bytes are free",
              errors.take());
    EXPECT_EQ(0u, b.buf.device);
    EXPECT_EQ(1, fake_cuda::calls("cuMemPoolTrimTo"));
    EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
    EXPECT_EQ(0, calotype_device_malloc(nullptr, &b.buf, cuda()));
    EXPECT_EQ(0, calotype_device_free(nullptr, &b.buf));
}

TEST_F(CudaBuffers, AnAllocationIsTriedAgainOnceThereIsRoom) {
    Ints a(10);
    fake_cuda::fail("cuMemAllocFromPoolAsync", 2);
    EXPECT_EQ(0, calotype_device_malloc(nullptr, &a.buf, cuda()));
    EXPECT_EQ(2, fake_cuda::calls("cuMemAllocFromPoolAsync"));
    EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
}

/// Each call of the driver fails once, at every place of a use of a buffer: there is an error or
/// nothing was lost, and nothing is left over.
TEST_F(CudaBuffers, EveryCallFails) {
    const char *const names[] = {
        "cuDeviceGet",         "cuDeviceGetAttribute",    "cuDevicePrimaryCtxRetain",
        "cuCtxPushCurrent",    "cuCtxGetDevice",          "cuCtxGetId",
        "cuMemPoolCreate",     "cuMemAllocFromPoolAsync", "cuMemcpyHtoDAsync",
        "cuStreamSynchronize", "cuMemcpyDtoHAsync",       "cuCtxSynchronize"};
    for (const char *name : names) {
        for (int nth = 1; nth <= 3; nth++) {
            SCOPED_TRACE(std::string(name) + " " + std::to_string(nth));
            start();
            const long before = fake_cuda::calls(name);
            fake_cuda::fail(name, 999, nth);
            Ints a(10);
            a.buf.set_host_dirty();
            int failures = calotype_copy_to_device(nullptr, &a.buf, cuda()) != 0;
            if (a.buf.device) {
                a.buf.set_host_dirty(false);
                a.buf.set_device_dirty();
                failures += calotype_copy_to_host(nullptr, &a.buf) != 0;
                failures += calotype_device_sync_global(nullptr, cuda()) != 0;
            }
            EXPECT_EQ(size_t(failures), errors.count());
            if (failures) {
                EXPECT_NE(std::string::npos, errors.take().find(name));
            }
            EXPECT_TRUE(failures <= 1);
            EXPECT_GT(fake_cuda::calls(name), before);
            fake_cuda::fail(name, 0);
            EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
            EXPECT_EQ(0, fake_cuda::live_allocations());
            EXPECT_EQ(0, fake_cuda::current_depth());
            calotype_device_release(nullptr, cuda());
        }
    }
}

TEST_F(CudaBuffers, WithoutPoolsPiecesAreKeptIfWanted) {
    fake_cuda::set_pools_supported(false);
    start();
    for (int reuse = 0; reuse < 2; reuse++) {
        calotype_reuse_device_allocations(nullptr, reuse);
        Ints a(1000), b(1001);
        ASSERT_EQ(0, calotype_device_malloc(nullptr, &a.buf, cuda()));
        const uint64_t where = a.buf.device;
        EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
        EXPECT_EQ(reuse, fake_cuda::live_allocations());
        ASSERT_EQ(0, calotype_device_malloc(nullptr, &b.buf, cuda()));
        if (reuse) {
            EXPECT_EQ(where, b.buf.device) << "sizes of one class share a piece";
        }
        EXPECT_EQ(0, calotype_device_free(nullptr, &b.buf));
    }
    EXPECT_EQ(0, calotype_reuse_device_allocations(nullptr, false));
    EXPECT_EQ(0, fake_cuda::live_allocations());
}

TEST_F(CudaBuffers, PiecesOfPoolsAreKeptForTheirStreamIfWanted) {
    void *context = make_context();
    calotype_device_context one = CALOTYPE_DEVICE_CONTEXT(context, make_stream(context));
    calotype_device_context other = CALOTYPE_DEVICE_CONTEXT(context, make_stream(context));
    calotype_reuse_device_allocations(&one, true);
    Ints a(1000), b(1001);
    const auto allocate = [&](calotype_device_context &on, Ints &ints) {
        EXPECT_EQ(0, calotype_device_malloc(&on, &ints.buf, cuda()));
        return ints.buf.device;
    };
    const auto calls = [] {
        return fake_cuda::calls("cuMemAllocFromPoolAsync");
    };
    const uint64_t where = allocate(one, a);
    EXPECT_EQ(0, calotype_device_free(&one, &a.buf));
    EXPECT_EQ(1, fake_cuda::live_allocations());
    EXPECT_EQ(0, fake_cuda::calls("cuMemFreeAsync"));
    EXPECT_EQ(where, allocate(one, b)) << "sizes of one class share a piece";
    EXPECT_EQ(1, calls());
    EXPECT_EQ(0, calotype_device_free(&one, &b.buf));
    EXPECT_NE(where, allocate(other, b)) << "what another stream still does is not waited for";
    EXPECT_EQ(2, calls());
    EXPECT_EQ(0, calotype_device_free(&other, &b.buf));
    // A stream at the address of one that is gone is another one.
    EXPECT_EQ(0, cuStreamDestroy_v2(one.stream));
    one.stream = make_stream(context);
    EXPECT_NE(where, allocate(one, a));
    EXPECT_EQ(3, calls());
    EXPECT_EQ(0, calotype_device_free(&one, &a.buf));
    EXPECT_EQ(0, calotype_reuse_device_allocations(&one, false));
    EXPECT_EQ(0, fake_cuda::live_allocations());
    calotype_device_release(&one, cuda());
    EXPECT_EQ(0, cuCtxDestroy_v2(context));
}

TEST_F(CudaBuffers, HostAndDeviceMemoryOrNone) {
    Ints a(100);
    a.buf.host = nullptr;
    fake_cuda::fail("cuMemAllocFromPoolAsync", 2, 1, 2);
    EXPECT_NE(0, calotype_device_and_host_malloc(nullptr, &a.buf, cuda()));
    EXPECT_NE(std::string::npos, errors.take().find("CUDA_ERROR_OUT_OF_MEMORY"));
    EXPECT_EQ(nullptr, a.buf.host);
    EXPECT_EQ(0u, a.buf.device);
    EXPECT_EQ(0, fake_cuda::live_allocations());
    ASSERT_EQ(0, calotype_device_and_host_malloc(nullptr, &a.buf, cuda()));
    EXPECT_NE(nullptr, a.buf.host);
    EXPECT_EQ(1, fake_cuda::live_allocations());
    EXPECT_EQ(0, calotype_device_and_host_free(nullptr, &a.buf));
    EXPECT_EQ(nullptr, a.buf.host);
    EXPECT_EQ(0, fake_cuda::live_allocations());
}

TEST_F(CudaBuffers, WrapsTheApplicationsMemory) {
    Ints a(10), b(10);
    ASSERT_EQ(0, calotype_device_malloc(nullptr, &a.buf, cuda()));
    ASSERT_EQ(0, calotype_cuda_wrap_device_ptr(nullptr, &b.buf, a.buf.device));
    EXPECT_EQ(a.buf.device, b.buf.device);
    EXPECT_EQ(0, calotype_cuda_detach_device_ptr(nullptr, &b.buf));
    EXPECT_EQ(0u, b.buf.device);
    EXPECT_EQ(calotype_error_code_device_wrap_native_failed,
              calotype_cuda_wrap_device_ptr(nullptr, &b.buf, 0x1230));
    EXPECT_EQ("wrapping a native device handle failed: 0x1230 is not an address that CUDA knows",
              errors.take());
    EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
}

TEST_F(CudaBuffers, WhatWouldWaitIsAnErrorDuringACapture) {
    void *context = make_context();
    void *stream = make_stream(context);
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, stream);
    Ints a(4), b(4);
    a.buf.set_host_dirty();
    ASSERT_EQ(0, calotype_copy_to_device(&on, &a.buf, cuda()));
    ASSERT_EQ(0, calotype_device_malloc(&on, &b.buf, cuda()));

    EXPECT_EQ(0, cuStreamBeginCapture_v2(stream, 0));
    a.buf.set_device_dirty();
    EXPECT_EQ(0, calotype_buffer_copy(&on, &a.buf, cuda(), &b.buf));
    EXPECT_EQ(calotype_error_code_copy_to_host_failed, calotype_copy_to_host(&on, &a.buf));
    EXPECT_EQ("copy to the host failed: a copy to the host would wait, but the stream is being "
              "captured",
              errors.take());
    a.buf.set_device_dirty(false);
    a.buf.set_host_dirty();
    EXPECT_NE(0, calotype_copy_to_device(&on, &a.buf, cuda()));
    EXPECT_EQ("copy to the device failed: a copy from the host would wait, but the stream is "
              "being captured",
              errors.take());
    EXPECT_NE(0, calotype_device_sync(&on, &a.buf));
    EXPECT_EQ("device synchronisation failed: the stream is being captured", errors.take());
    // What is freed now is not the graph's to free.
    Ints c(4);
    void *graph = nullptr, *exec = nullptr;
    EXPECT_EQ(0, cuStreamEndCapture(stream, &graph));
    ASSERT_EQ(0, cuGraphInstantiateWithFlags(&exec, graph, 0));
    a.on_device()[3] = 33;
    EXPECT_EQ(0, cuGraphLaunch(exec, stream));
    EXPECT_EQ(33, b.on_device()[3]);
    cuGraphExecDestroy(exec);
    cuGraphDestroy(graph);
    EXPECT_EQ(0, calotype_device_free(&on, &a.buf));
    EXPECT_EQ(0, calotype_device_free(&on, &b.buf));
    calotype_device_release(&on, cuda());
    EXPECT_EQ(0, cuCtxDestroy_v2(context));
}

TEST_F(CudaBuffers, FreedDuringACapture) {
    void *context = make_context();
    void *stream = make_stream(context);
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, stream);
    Ints a(4), b(4);
    ASSERT_EQ(0, calotype_device_malloc(&on, &a.buf, cuda()));
    EXPECT_EQ(0, cuStreamBeginCapture_v2(stream, 0));
    EXPECT_EQ(0, calotype_device_free(&on, &a.buf));
    void *graph = nullptr;
    EXPECT_EQ(0, cuStreamEndCapture(stream, &graph));
    cuGraphDestroy(graph);
    EXPECT_EQ(1, fake_cuda::live_allocations()) << "a graph must not free it";
    ASSERT_EQ(0, calotype_device_malloc(&on, &b.buf, cuda()));
    EXPECT_EQ(1, fake_cuda::live_allocations());
    EXPECT_EQ(0, calotype_device_free(&on, &b.buf));
    calotype_device_release(&on, cuda());
    EXPECT_EQ(0, cuCtxDestroy_v2(context));
}

TEST_F(CudaBuffers, HooksForContextAndStream) {
    static void *context, *stream;
    static int acquired, released;
    context = make_context();
    stream = make_stream(context);
    acquired = released = 0;
    calotype_set_cuda_acquire_context([](void *, CUctx_st **answer, bool) {
        *answer = static_cast<CUctx_st *>(context);
        acquired++;
        return 0;
    });
    calotype_set_cuda_release_context([](void *) {
        released++;
        return 0;
    });
    calotype_set_cuda_get_stream([](void *, CUctx_st *, CUstream_st **answer) {
        *answer = static_cast<CUstream_st *>(stream);
        return 0;
    });
    Ints a(4);
    EXPECT_EQ(0, calotype_device_malloc(nullptr, &a.buf, cuda()));
    EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
    EXPECT_GT(acquired, 1);
    EXPECT_EQ(acquired, released);
    EXPECT_EQ(0, fake_cuda::calls("cuDevicePrimaryCtxRetain"));
    calotype_set_cuda_acquire_context([](void *, CUctx_st **, bool) { return -3; });
    EXPECT_NE(0, calotype_device_malloc(nullptr, &a.buf, cuda()));
    EXPECT_EQ("device allocation failed: calotype_cuda_acquire_context answers with code -3",
              errors.take());
    calotype_set_cuda_acquire_context(nullptr);
    calotype_set_cuda_release_context(nullptr);
    calotype_set_cuda_get_stream(nullptr);
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, nullptr);
    calotype_device_release(&on, cuda());
    EXPECT_EQ(0, cuCtxDestroy_v2(context));
}

/// The primary context has its own modules and memory, which a release of another leaves alone.
TEST_F(CudaBuffers, ReleaseOfAnotherContextLeavesThePrimaryOne) {
    Ints a(4);
    a.buf.set_host_dirty();
    ASSERT_EQ(0, calotype_copy_to_device(nullptr, &a.buf, cuda()));
    a.on_device()[2] = 77;
    a.buf.set_device_dirty();
    calotype_test::NothingModule module;
    calotype_hold hold;
    ASSERT_EQ(CALOTYPE_OK, calotype_initialize_kernels(nullptr, &module.desc, nullptr, &hold));
    void *context = make_context();
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, nullptr);
    EXPECT_EQ(0, module.call(&on));
    calotype_device_release(&on, cuda());
    EXPECT_EQ(1, fake_cuda::primary_retains(0));
    EXPECT_EQ(0, calotype_copy_to_host(nullptr, &a.buf));
    EXPECT_EQ(77, a.data[2]);
    const uint32_t one[3] = {1, 1, 1};
    EXPECT_EQ(CALOTYPE_OK, calotype_launch(nullptr, hold, 0, one, one, 0, nullptr, nullptr));
    EXPECT_EQ(CALOTYPE_OK, calotype_finalize_kernels(nullptr, &hold));
    EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
    EXPECT_EQ(0, cuCtxDestroy_v2(context));
    calotype_device_release(nullptr, cuda());
    EXPECT_EQ(0, fake_cuda::primary_retains(0));
}

/// The driver would read from null, or write there.
TEST_F(CudaBuffers, CopiesNeedHostMemory) {
    Ints a(4);
    a.buf.host = nullptr;
    a.buf.set_host_dirty();
    EXPECT_EQ(calotype_error_code_copy_to_device_failed,
              calotype_copy_to_device(nullptr, &a.buf, cuda()));
    EXPECT_EQ("copy to the device failed: the source has no host memory", errors.take());
    a.buf.set_host_dirty(false);
    a.buf.set_device_dirty();
    EXPECT_EQ(calotype_error_code_copy_to_host_failed, calotype_copy_to_host(nullptr, &a.buf));
    EXPECT_EQ("copy to the host failed: the destination has no host memory", errors.take());
    EXPECT_TRUE(a.buf.device_dirty());
    a.buf.set_device_dirty(false);
    EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
}

/// As after a copy to the device that failed, and a pipeline that did not look.
TEST_F(CudaBuffers, ABufferThatIsDirtyOnBothSidesIsFreed) {
    Ints a(4);
    ASSERT_EQ(0, calotype_device_malloc(nullptr, &a.buf, cuda()));
    a.buf.set_host_dirty();
    a.buf.set_device_dirty();
    EXPECT_NE(0, calotype_copy_to_host(nullptr, &a.buf));
    EXPECT_EQ("host and device are both dirty", errors.take());
    EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
    EXPECT_EQ(0u, a.buf.device);
}

}  // namespace
