// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a call without a stream frees, as destructors of buffers do, while streams of other calls
// may still work on it: nobody gets that memory before they are done, and no free waits for them.
#include <thread>

#include "harness/nothing_module.h"
#include "runtime/cuda/fixture.h"

namespace {

using calotype_test::FakeCuda;
using calotype_test::Ints;

class CudaParkedMemory : public FakeCuda {
protected:
    static constexpr size_t memory = 1 << 20;
    void *context = nullptr, *stream = nullptr;
    calotype_device_context on = {}, without_stream = {};

    CudaParkedMemory() {
        fake_cuda::set_memory(memory);
        start();
        context = make_context();
        stream = make_stream(context);
        on = CALOTYPE_DEVICE_CONTEXT(context, stream);
        without_stream = CALOTYPE_DEVICE_CONTEXT(context, nullptr);
    }
    ~CudaParkedMemory() override {
        calotype_reuse_device_allocations(nullptr, false);
        calotype_device_release(&on, cuda());
        EXPECT_EQ(0, fake_cuda::live_allocations());
        EXPECT_EQ(0, cuCtxDestroy_v2(context));
    }
    static void allocate(void *user_context, Ints &a) {
        EXPECT_EQ(0, calotype_device_malloc(user_context, &a.buf, cuda()));
    }
    /// The calls that f makes of those that free memory or wait.
    template<typename F>
    static Calls frees(F f) {
        return calls_of({"cuMemFreeAsync", "cuMemFree", "cuCtxSynchronize", "cuStreamSynchronize"},
                        f);
    }
    static Calls free(void *user_context, Ints &a) {
        return frees([&] { EXPECT_EQ(0, calotype_device_free(user_context, &a.buf)); });
    }
    /// Work of a stream on memory that is freed meanwhile, and what the next owner finds there.
    void expect_no_damage(void *user_context_of_free) {
        Ints a(64), source(64), b(64);
        allocate(&on, a);
        allocate(&on, source);
        std::fill_n(source.on_device(), 64, -1);
        source.buf.set_device_dirty();
        fake_cuda::hold_stream(context, stream);
        EXPECT_EQ(0, calotype_buffer_copy(&on, &source.buf, cuda(), &a.buf));
        a.buf.set_device_dirty(false);
        EXPECT_EQ(Calls(), free(user_context_of_free, a));
        b.buf.set_host_dirty();
        EXPECT_EQ(0, calotype_copy_to_device(&without_stream, &b.buf, cuda()));
        fake_cuda::release_stream(context, stream);
        EXPECT_EQ(6, b.on_device()[5]);
        free(&on, source);
        free(&on, b);
    }
};

TEST_F(CudaParkedMemory, IsNotUsedAgainBeforeTheStreamIsDone) {
    for (bool reuse : {false, true}) {
        calotype_reuse_device_allocations(&on, reuse);
        expect_no_damage(&without_stream);
        expect_no_damage(nullptr);  // in another context
    }
}

TEST_F(CudaParkedMemory, GoesWithTheNextWaitForAllWork) {
    Ints a(64), b(64);
    allocate(&on, a);
    allocate(&without_stream, b);  // which streams may use as well
    EXPECT_EQ(Calls(), free(&without_stream, a));
    EXPECT_EQ(Calls(), free(nullptr, b));
    EXPECT_EQ(2, fake_cuda::live_allocations());
    EXPECT_EQ((Calls{{"cuCtxSynchronize", 1}, {"cuMemFreeAsync", 2}}),
              frees([&] { EXPECT_EQ(0, calotype_device_sync_global(&on, cuda())); }));
    EXPECT_EQ(0, fake_cuda::live_allocations());
    // By a call that names its stream it is the driver's at once.
    allocate(&on, a);
    EXPECT_EQ((Calls{{"cuMemFreeAsync", 1}}), free(&on, a));
}

/// Another thread queues work and frees while a call waits: the wait may not have seen that work.
TEST_F(CudaParkedMemory, WhatIsFreedDuringAWaitWaitsForTheNext) {
    using Wait = int(void *);
    Wait *const waits[] = {[](void *on) { return calotype_device_sync_global(on, cuda()); },
                           calotype_cuda_release_unused_device_allocations};
    for (const bool reuse : {false, true}) {
        calotype_reuse_device_allocations(&on, reuse);
        for (Wait *wait : waits) {
            Ints a(64), before(64);
            allocate(&on, a);
            allocate(&on, before);
            free(&without_stream, before);
            const int live = fake_cuda::live_allocations();
            fake_cuda::before("cuCtxSynchronize", [&] {
                std::thread([&] { EXPECT_EQ(Calls(), free(&without_stream, a)); }).join();
            });
            EXPECT_EQ(0, wait(&without_stream));
            fake_cuda::before("cuCtxSynchronize", nullptr);
            EXPECT_EQ(live - 1, fake_cuda::live_allocations()) << "the one of before is gone";
            EXPECT_EQ(0, wait(&without_stream));
            EXPECT_EQ(live - 2, fake_cuda::live_allocations());
        }
    }
}

/// It is kept for a stream, whose order is not that of the call that gives it back.
TEST_F(CudaParkedMemory, WhatIsReusedGoesAfterTheWorkOfItsStream) {
    calotype_reuse_device_allocations(&on, true);
    Ints a(64);
    allocate(&on, a);
    EXPECT_EQ(Calls(), free(&on, a));
    EXPECT_EQ((Calls{{"cuCtxSynchronize", 1}, {"cuMemFreeAsync", 1}, {"cuStreamSynchronize", 1}}),
              frees([&] {
                  EXPECT_EQ(0, calotype_cuda_release_unused_device_allocations(&without_stream));
              }));
}

TEST_F(CudaParkedMemory, WithoutStreamsNothingIs) {
    void *other = make_context();
    calotype_device_context there = CALOTYPE_DEVICE_CONTEXT(other, nullptr);
    Ints a(64);
    allocate(&there, a);
    EXPECT_EQ((Calls{{"cuMemFreeAsync", 1}}), free(&there, a));
    allocate(&there, a);
    EXPECT_EQ((Calls{{"cuMemFreeAsync", 1}}), free(nullptr, a));
    allocate(nullptr, a);
    EXPECT_EQ((Calls{{"cuMemFreeAsync", 1}}), free(nullptr, a));
    // A launch is enough: what it works on was allocated before.
    calotype_test::NothingModule module;
    allocate(&there, a);
    there.stream = make_stream(other);
    EXPECT_EQ(0, module.call(&there));
    EXPECT_EQ(Calls(), free(nullptr, a));
    calotype_device_release(&there, cuda());
    EXPECT_EQ(0, cuCtxDestroy_v2(other));
}

TEST_F(CudaParkedMemory, IsBounded) {
    constexpr int quarter = int(memory / 64 / 4 / sizeof(int));
    for (void *user_context :
         {static_cast<void *>(&without_stream), static_cast<void *>(nullptr)}) {
        for (int i = 0; i < 11; i++) {
            Ints a(quarter);
            allocate(&on, a);
            const Calls expected =
                i % 5 == 4 ? Calls{{"cuCtxSynchronize", 1}, {"cuMemFreeAsync", 5}} : Calls();
            EXPECT_EQ(expected, free(user_context, a)) << i;
        }
        EXPECT_EQ(1, fake_cuda::live_allocations());
        EXPECT_EQ(0, calotype_device_sync_global(&on, cuda()));
    }
}

/// A wait would end the capture.
TEST_F(CudaParkedMemory, StaysWhileTheContextIsCaptured) {
    void *capturing = make_stream(context), *graph = nullptr;
    Ints a(int(memory / 64 / sizeof(int)) + 1), b(64);
    allocate(&on, a);
    allocate(&on, b);
    ASSERT_EQ(0, cuStreamBeginCapture_v2(capturing, 0));
    EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
    EXPECT_EQ(2, fake_cuda::live_allocations());
    cuStreamEndCapture(capturing, &graph);
    EXPECT_EQ((Calls{{"cuCtxSynchronize", 1}, {"cuMemFreeAsync", 2}}), free(nullptr, b));
}

/// Nor does a call that would wait for all work, whatever its stream is.
TEST_F(CudaParkedMemory, CapturesOfOtherStreamsAreLeftAlone) {
    void *capturing = make_stream(context), *graph = nullptr;
    Ints large(int(memory / 64 / sizeof(int)) + 1), small(64), idle(64), next(1000);
    for (calotype_device_context *asking : {&on, &without_stream}) {
        calotype_reuse_device_allocations(&on, true);
        allocate(&on, large);
        allocate(&on, small);
        allocate(&on, idle);
        free(&on, idle);
        const int live = fake_cuda::live_allocations();
        EXPECT_EQ(0, cuStreamBeginCapture_v2(capturing, 0));
        EXPECT_EQ(Calls(), free(&without_stream, large));
        EXPECT_EQ(Calls(), free(&without_stream, small));
        EXPECT_EQ(Calls(), frees([&] {
                      EXPECT_EQ(0, calotype_cuda_release_unused_device_allocations(asking));
                  }));
        EXPECT_EQ(Calls(),
                  frees([&] { EXPECT_NE(0, calotype_device_sync_global(asking, cuda())); }));
        EXPECT_EQ(std::string("device synchronisation failed: ") +
                      (asking == &on ? "a stream of the context" : "the stream") +
                      " is being captured",
                  errors.take());
        fake_cuda::fail("cuMemAllocFromPoolAsync", 2, 1, 1);
        EXPECT_EQ(0, frees([&] { allocate(asking, next); })["cuCtxSynchronize"]);
        EXPECT_EQ(live + 1, fake_cuda::live_allocations());
        EXPECT_EQ(0, cuStreamEndCapture(capturing, &graph));
        EXPECT_EQ(0, cuGraphDestroy(graph));
        free(asking, next);
        EXPECT_EQ(0, calotype_cuda_release_unused_device_allocations(asking));
        EXPECT_EQ(0, fake_cuda::live_allocations());
    }
}

/// Nobody asks its record for memory again.
TEST_F(CudaParkedMemory, OfAContextThatIsToldLostAndAnswersNothingStays) {
    for (const int freed_by : {0, 1, 2, 3, 4, 5}) {
        void *lost = make_context();
        calotype_device_context there = CALOTYPE_DEVICE_CONTEXT(lost, make_stream(lost));
        calotype_device_context nameless = CALOTYPE_DEVICE_CONTEXT(lost, nullptr);
        void *const callers[] = {&there, &nameless, nullptr};
        void *freeing = callers[freed_by / 2];
        calotype_reuse_device_allocations(nullptr, freed_by % 2);
        Ints a(64), b(64), c(64);
        allocate(&there, a);
        allocate(&there, b);
        EXPECT_EQ(0, calotype_test::NothingModule().call(&there));
        uint64_t uid = 0;
        EXPECT_EQ(CALOTYPE_OK, calotype_context_uid(&there, cuda(), &uid));
        EXPECT_EQ(CALOTYPE_OK, calotype_context_lost(uid));
        allocate(&there, c);  // of the second record
        const int pools = fake_cuda::live_pools();
        EXPECT_EQ((Calls{{"cuMemFree", 1}}), free(freeing, a));
        EXPECT_EQ(pools, fake_cuda::live_pools());
        EXPECT_EQ((Calls{{"cuMemFree", 1}}), free(freeing, b));
        EXPECT_EQ(pools - 1, fake_cuda::live_pools()) << "with the last piece";
        free(&there, c);
        calotype_device_release(&there, cuda());
        EXPECT_EQ(0, cuCtxDestroy_v2(lost));
    }
}

TEST_F(CudaParkedMemory, IsThereWhenThereIsNoOther) {
    Ints a(64);
    allocate(&on, a);
    EXPECT_EQ(Calls(), free(nullptr, a));
    fake_cuda::fail("cuMemAllocFromPoolAsync", 2, 1, 1);
    Ints b(64);
    EXPECT_EQ(1, frees([&] { allocate(&on, b); })["cuMemFreeAsync"]);
    free(&on, b);
}

TEST_F(CudaParkedMemory, GoesWithItsContext) {
    void *other = make_context();
    calotype_device_context there = CALOTYPE_DEVICE_CONTEXT(other, make_stream(other));
    Ints a(64);
    allocate(&there, a);
    EXPECT_EQ(Calls(), free(nullptr, a));
    uint64_t uid = 0;
    EXPECT_EQ(CALOTYPE_OK, calotype_context_uid(&there, cuda(), &uid));
    EXPECT_EQ(0, cuCtxDestroy_v2(other));
    EXPECT_EQ(CALOTYPE_OK, calotype_context_lost(uid));
    void *next = make_context();
    calotype_device_context on_next = CALOTYPE_DEVICE_CONTEXT(next, nullptr);
    allocate(&on_next, a);  // finds what has ended
    EXPECT_EQ((Calls{{"cuMemFreeAsync", 1}}), free(&on_next, a));
    calotype_device_release(&on_next, cuda());
    EXPECT_EQ(0, cuCtxDestroy_v2(next));
}

}  // namespace
