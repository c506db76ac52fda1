// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Page-locked host memory, copies that do not wait, and the order of copies without a stream.
#include <thread>

#include "runtime/cuda/fixture.h"

namespace {

using calotype_test::FakeCuda;
using calotype_test::Ints;

class CudaAsync : public FakeCuda {
protected:
    void *context = make_context();
    void *stream = make_stream(context);
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, stream);
    calotype_device_context unnamed = CALOTYPE_DEVICE_CONTEXT(context, nullptr);

    ~CudaAsync() override {
        calotype_device_release(&on, cuda());
        EXPECT_EQ(0, fake_cuda::live_locked_memory());
        EXPECT_EQ(0, cuCtxDestroy_v2(context));
        EXPECT_EQ(0, fake_cuda::calls_for_the_dead());
    }
    /// A buffer without memory.
    struct Empty : Ints {
        explicit Empty(int n) : Ints(n) {
            buf.host = nullptr;
        }
        int *on_host() const {
            return reinterpret_cast<int *>(buf.host);
        }
    };
};

TEST_F(CudaAsync, CopiesAreDoneWithTheirStream) {
    Empty a(10);
    ASSERT_EQ(0, calotype_device_and_host_malloc(&on, &a.buf, cuda()));
    for (int i = 0; i < 10; i++) {
        a.on_host()[i] = i;
        a.on_device()[i] = -1;
    }
    a.buf.set_host_dirty();
    fake_cuda::hold_stream(context, stream);
    EXPECT_EQ((Calls{}), calls_of({"cuStreamSynchronize"}, [&] {
                  EXPECT_EQ(0, calotype_copy_to_device_async(&on, &a.buf, cuda()));
              }));
    EXPECT_FALSE(a.buf.host_dirty());
    EXPECT_EQ(-1, a.on_device()[3]) << "it is queued";
    fake_cuda::release_stream(context, stream);
    EXPECT_EQ(3, a.on_device()[3]);
    a.on_device()[3] = 33;
    a.buf.set_device_dirty();
    fake_cuda::hold_stream(context, stream);
    EXPECT_EQ(0, calotype_copy_to_host_async(&on, &a.buf));
    EXPECT_EQ(3, a.on_host()[3]);
    fake_cuda::release_stream(context, stream);
    EXPECT_EQ(0, calotype_device_sync(&on, &a.buf));
    EXPECT_EQ(33, a.on_host()[3]);
    EXPECT_EQ(0, calotype_device_and_host_free(&on, &a.buf));
}

/// Nobody could tell when they are done.
TEST_F(CudaAsync, WithoutAStreamTheyWait) {
    Ints a(10);
    a.buf.set_host_dirty();
    EXPECT_EQ((Calls{{"cuStreamSynchronize", 1}}), calls_of({"cuStreamSynchronize"}, [&] {
                  EXPECT_EQ(0, calotype_copy_to_device_async(&unnamed, &a.buf, cuda()));
              }));
    a.buf.set_device_dirty();
    EXPECT_EQ((Calls{{"cuStreamSynchronize", 1}}), calls_of({"cuStreamSynchronize"}, [&] {
                  EXPECT_EQ(0, calotype_copy_to_host_async(&unnamed, &a.buf));
              }));
    EXPECT_EQ(0, calotype_device_free(&unnamed, &a.buf));
}

/// A buffer that a pipeline wrote on a stream of the application's, then asked for without one.
TEST_F(CudaAsync, ACopyWithoutAStreamIsAfterTheWorkOfAll) {
    Ints a(10), b(10);
    a.buf.set_host_dirty();
    ASSERT_EQ(0, calotype_copy_to_device(&on, &a.buf, cuda()));
    ASSERT_EQ(0, calotype_device_malloc(&on, &b.buf, cuda()));
    a.buf.set_device_dirty();
    fake_cuda::hold_stream(context, stream);
    ASSERT_EQ(0, calotype_buffer_copy(&on, &a.buf, cuda(), &b.buf));
    std::thread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        fake_cuda::release_stream(context, stream);
    });
    b.data[5] = 0;
    EXPECT_EQ(0, calotype_copy_to_host(&unnamed, &b.buf));
    later.join();
    EXPECT_EQ(6, b.data[5]);
    EXPECT_EQ(0, calotype_device_free(&on, &a.buf));
    EXPECT_EQ(0, calotype_device_free(&on, &b.buf));
}

TEST_F(CudaAsync, HostMemoryIsLockedWhileItIsThere) {
    Empty a(10), b(5000);
    ASSERT_EQ(0, calotype_device_and_host_malloc(&on, &a.buf, cuda()));
    ASSERT_EQ(0, calotype_device_and_host_malloc(&on, &b.buf, cuda()));
    EXPECT_EQ(2, fake_cuda::live_locked_memory());
    EXPECT_EQ(0u, reinterpret_cast<uintptr_t>(a.buf.host) % 4096);
    EXPECT_EQ(0, calotype_device_and_host_free(&on, &a.buf));
    EXPECT_EQ(1, fake_cuda::live_locked_memory());
    EXPECT_EQ(0, calotype_device_and_host_free(nullptr, &b.buf))
        << "by a call that does not name the context";
    EXPECT_EQ(nullptr, b.buf.host);
    EXPECT_EQ(0, fake_cuda::live_locked_memory());
}

/// Copies of other threads may be on their way while one releases the context.
TEST_F(CudaAsync, MemoryStaysLockedWhereTheContextIsReleased) {
    Empty a(10), b(10);
    for (Empty *buffer : {&a, &b}) {
        ASSERT_EQ(0, calotype_device_and_host_malloc(&on, &buffer->buf, cuda()));
        buffer->on_host()[9] = 5;
    }
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(&on, CALOTYPE_REL_BUSY, 0));
    EXPECT_EQ(2, fake_cuda::live_locked_memory());
    EXPECT_EQ(5, b.on_host()[9]);
    EXPECT_EQ(0, calotype_device_and_host_free(nullptr, &a.buf));
    EXPECT_EQ(0, calotype_device_and_host_free(&on, &b.buf));
    EXPECT_EQ(0, fake_cuda::live_locked_memory());
}

TEST_F(CudaAsync, MemoryOutlivesItsContext) {
    void *other = make_context();
    calotype_device_context on_other = CALOTYPE_DEVICE_CONTEXT(other, nullptr);
    Empty a(10);
    ASSERT_EQ(0, calotype_device_and_host_malloc(&on_other, &a.buf, cuda()));
    a.on_host()[9] = 5;
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(&on_other, CALOTYPE_REL_BUSY, 0));
    EXPECT_EQ(0, cuCtxDestroy_v2(other));
    EXPECT_EQ(0, fake_cuda::live_locked_memory());
    EXPECT_EQ(5, a.on_host()[9]);
    EXPECT_EQ(0, calotype_device_and_host_free(nullptr, &a.buf));
}

/// The driver would write to it, whoever has it then.
TEST_F(CudaAsync, MemoryThatCannotBeUnlockedIsNotFreed) {
    Empty a(10);
    ASSERT_EQ(0, calotype_device_and_host_malloc(&on, &a.buf, cuda()));
    fake_cuda::fail("cuMemHostUnregister", 719);
    EXPECT_EQ(0, calotype_device_and_host_free(&on, &a.buf));
    EXPECT_EQ(1, fake_cuda::live_locked_memory());
    ASSERT_EQ(0, calotype_device_and_host_malloc(&on, &a.buf, cuda()));
    EXPECT_EQ(1, fake_cuda::live_locked_memory()) << "it goes with the next call";
    EXPECT_EQ(0, calotype_device_and_host_free(&on, &a.buf));
}

TEST_F(CudaAsync, MemoryThatCannotBeLockedIsOrdinary) {
    Empty a(10);
    fake_cuda::fail("cuMemHostRegister", 801);
    ASSERT_EQ(0, calotype_device_and_host_malloc(&on, &a.buf, cuda()));
    EXPECT_EQ(0, fake_cuda::live_locked_memory());
    a.on_host()[9] = 5;
    EXPECT_EQ(0, calotype_device_and_host_free(&on, &a.buf));
    fake_cuda::fail("cuMemAllocFromPoolAsync", 2, 1, 2);
    EXPECT_NE(0, calotype_device_and_host_malloc(&on, &a.buf, cuda()));
    EXPECT_NE(std::string::npos, errors.take().find("no 40 bytes"));
    EXPECT_EQ(nullptr, a.buf.host);
}

TEST_F(CudaAsync, ManyThreads) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; t++) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < 200; i++) {
                Empty a(100 + t);
                void *user_context = (i + t) % 2 ? &on : nullptr;
                ASSERT_EQ(0, calotype_device_and_host_malloc(user_context, &a.buf, cuda()));
                a.on_host()[99] = t;
                ASSERT_EQ(0, calotype_device_and_host_free(i % 3 ? &on : nullptr, &a.buf));
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    calotype_device_release(nullptr, cuda());
}

/// As left by cudaSetDevice() or a library with contexts of its own.
TEST_F(CudaAsync, TheCurrentContextAsDefault) {
    calotype_set_cuda_acquire_context(calotype_cuda_acquire_current_context);
    uint64_t uid = 0, found = 0, named = 0;
    void *popped = nullptr;
    EXPECT_EQ(CALOTYPE_OK, calotype_context_uid(&on, cuda(), &uid));
    ASSERT_EQ(0, cuCtxPushCurrent_v2(context));
    EXPECT_EQ(CALOTYPE_OK, calotype_context_uid(nullptr, cuda(), &found));
    EXPECT_EQ(uid, found);
    Ints a(4);
    ASSERT_EQ(0, calotype_device_malloc(nullptr, &a.buf, cuda()));
    EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
    EXPECT_EQ(0, fake_cuda::primary_retains(0));
    void *other = make_context();
    calotype_device_context on_other = CALOTYPE_DEVICE_CONTEXT(other, nullptr);
    EXPECT_EQ(CALOTYPE_OK, calotype_context_uid(&on_other, cuda(), &named));
    EXPECT_NE(uid, named) << "a call that names one works there";
    ASSERT_EQ(0, cuCtxPopCurrent_v2(&popped));
    EXPECT_EQ(CALOTYPE_OK, calotype_context_uid(nullptr, cuda(), &found));
    EXPECT_NE(uid, found) << "none is current: the primary context";
    EXPECT_EQ(1, fake_cuda::primary_retains(0));
    calotype_set_cuda_acquire_context(nullptr);
    calotype_device_release(&on_other, cuda());
    EXPECT_EQ(0, cuCtxDestroy_v2(other));
}

TEST_F(CudaAsync, TheStreamOfTheThreadAsDefault) {
    calotype_set_cuda_get_stream(calotype_cuda_get_per_thread_stream);
    CUstream_st *found = nullptr;
    EXPECT_EQ(0, calotype_cuda_get_stream(&unnamed, nullptr, &found));
    EXPECT_EQ(reinterpret_cast<void *>(2), found);
    EXPECT_EQ(0, calotype_cuda_get_stream(&on, nullptr, &found));
    EXPECT_EQ(stream, found) << "a call that names one works there";
    Ints a(4);
    a.buf.set_host_dirty();
    EXPECT_EQ(0, calotype_copy_to_device(&unnamed, &a.buf, cuda()));
    EXPECT_EQ(3, a.on_device()[2]);
    EXPECT_EQ(0, calotype_device_free(&unnamed, &a.buf));
    calotype_set_cuda_get_stream(nullptr);
}

}  // namespace
