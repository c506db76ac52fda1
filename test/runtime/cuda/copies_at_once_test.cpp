// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies on several threads on the fake CUDA driver: each waits for its own copy alone.
#include "harness/nothing_module.h"
#include "runtime/cuda/fixture.h"

#include <atomic>
#include <chrono>
#include <thread>

#include "runtime/abi/linkables.h"

namespace {

using calotype_test::FakeCuda;
using calotype_test::Ints;
using calotype_test::NothingModule;
using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

class CudaCopiesAtOnce : public FakeCuda {
protected:
    static constexpr int n = 8;
    static constexpr int copy_ms = 100;
    std::vector<void *> contexts;
    std::vector<calotype_device_context> on;

    CudaCopiesAtOnce() {
        for (int i = 0; i < n; i++) {
            contexts.push_back(make_context());
            on.push_back(CALOTYPE_DEVICE_CONTEXT(contexts.back(), make_stream(contexts.back())));
        }
    }
    ~CudaCopiesAtOnce() override {
        for (int i = 0; i < n; i++) {
            calotype_device_release(&on[size_t(i)], cuda());
            EXPECT_EQ(0, cuCtxDestroy_v2(contexts[size_t(i)]));
        }
    }
    /// How long each thread's call takes, with a buffer on its stack and a context of its own.
    std::vector<double> copy(bool all_are_dirty) {
        std::vector<double> took(n);
        std::atomic<int> ready{0};
        std::vector<std::thread> threads;
        for (size_t i = 0; i < n; i++) {
            threads.emplace_back([&, i] {
                Ints a(64);
                EXPECT_EQ(0, calotype_device_malloc(&on[i], &a.buf, cuda()));
                a.buf.set_host_dirty(all_are_dirty || i == 0);
                ready++;
                while (ready < n) {
                    std::this_thread::yield();
                }
                if (!a.buf.host_dirty()) {
                    std::this_thread::sleep_for(std::chrono::milliseconds(copy_ms / 5));
                }
                const auto begin = Clock::now();
                EXPECT_EQ(0, calotype_copy_to_device(&on[i], &a.buf, cuda()));
                took[i] = ms_since(begin);
                EXPECT_EQ(0, calotype_device_free(&on[i], &a.buf));
            });
        }
        for (std::thread &thread : threads) {
            thread.join();
        }
        return took;
    }
};

TEST_F(CudaCopiesAtOnce, CopiesInEightContextsOverlap) {
    fake_cuda::delay("cuMemcpyHtoDAsync", copy_ms);
    const auto begin = Clock::now();
    copy(true);
    // One after the other they take 800 ms, and 400 where two share a lock.
    EXPECT_LT(ms_since(begin), 2.5 * copy_ms);
    EXPECT_EQ(n, fake_cuda::calls("cuMemcpyHtoDAsync"));
}

TEST_F(CudaCopiesAtOnce, ThreadsWithNothingToCopyDoNotWait) {
    fake_cuda::delay("cuMemcpyHtoDAsync", copy_ms);
    const std::vector<double> took = copy(false);
    EXPECT_GE(took[0], copy_ms);
    for (size_t i = 1; i < n; i++) {
        EXPECT_LT(took[i], 0.5 * copy_ms);
    }
    EXPECT_EQ(1, fake_cuda::calls("cuMemcpyHtoDAsync"));
}

/// Room is made for a buffer by unloading a module, whose teardown waits for a thread that wants
/// the very buffer.
TEST_F(CudaCopiesAtOnce, ATeardownMayWaitForTheBufferThatRoomIsMadeFor) {
    struct Wait {
        calotype_device_context *on;
        calotype_buffer_t *buf;
        int answer;
    };
    Ints a(64);
    a.buf.set_host_dirty();
    Wait wait = {&on[0], &a.buf, -1};
    calotype_linkable_desc linkable = {};
    linkable.size = sizeof linkable;
    linkable.name = "waits";
    linkable.content.b[0] = 1;
    linkable.user = &wait;
    linkable.teardown = [](const calotype_callback_args *args) {
        Wait &wait = *static_cast<Wait *>(args->user);
        std::thread([&] {
            wait.answer = calotype_copy_to_device(wait.on, wait.buf, cuda());
        }).join();
        return 0;
    };
    const calotype_linkable_desc *linkables[] = {&linkable};
    NothingModule module;
    module.desc.linkables = linkables;
    module.desc.n_linkables = 1;
    EXPECT_EQ(0, module.call(&on[0]));
    fake_cuda::fail("cuMemAllocFromPoolAsync", 2);
    EXPECT_EQ(0, calotype_copy_to_device(&on[0], &a.buf, cuda()));
    EXPECT_EQ(0, wait.answer);
    EXPECT_EQ(1, fake_cuda::calls("cuModuleUnload"));
    EXPECT_EQ(1, fake_cuda::calls("cuMemcpyHtoDAsync"));
    EXPECT_EQ(64, a.on_device()[63]);
    EXPECT_EQ(1, fake_cuda::live_allocations());
    EXPECT_EQ(0, calotype_device_free(&on[0], &a.buf));
}

}  // namespace
