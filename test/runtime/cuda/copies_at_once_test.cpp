// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies on several threads on the fake CUDA driver: each waits for its own copy alone.
#include "harness/nothing_module.h"
#include "runtime/cuda/fixture.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "runtime/abi/linkables.h"

namespace {

using calotype_test::FakeCuda;
using calotype_test::Ints;
using calotype_test::NothingModule;

class CudaCopiesAtOnce : public FakeCuda {
protected:
    static constexpr int n = 8;
    std::vector<void *> contexts;
    std::vector<calotype_device_context> on;

    CudaCopiesAtOnce() {
        for (int i = 0; i < n; i++) {
            contexts.push_back(make_context());
            on.push_back(CALOTYPE_DEVICE_CONTEXT(contexts.back(), make_stream(contexts.back())));
        }
    }
    ~CudaCopiesAtOnce() override {
        fake_cuda::before("cuMemcpyHtoDAsync", nullptr);
        for (int i = 0; i < n; i++) {
            calotype_device_release(&on[size_t(i)], cuda());
            EXPECT_EQ(0, cuCtxDestroy_v2(contexts[size_t(i)]));
        }
    }
    /// Each thread has a buffer on its stack and a context of its own.
    void copy(bool all_are_dirty, std::function<void()> begin, std::function<void()> end) {
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
                    begin();
                }
                EXPECT_EQ(0, calotype_copy_to_device(&on[i], &a.buf, cuda()));
                end();
                EXPECT_EQ(0, calotype_device_free(&on[i], &a.buf));
            });
        }
        for (std::thread &thread : threads) {
            thread.join();
        }
    }
    /// Whether `counter` comes to that in time.
    static bool comes_to(const std::atomic<int> &counter, int value) {
        for (int ms = 0; counter < value && ms < 5000; ms++) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return counter >= value;
    }
};

TEST_F(CudaCopiesAtOnce, CopiesInEightContextsAreAllOnAtOnce) {
    std::atomic<int> begun{0};
    fake_cuda::before("cuMemcpyHtoDAsync", [&] {
        begun++;
        EXPECT_TRUE(comes_to(begun, n));
    });
    copy(
        true, [] {}, [] {});
    EXPECT_EQ(n, fake_cuda::calls("cuMemcpyHtoDAsync"));
}

TEST_F(CudaCopiesAtOnce, ThreadsWithNothingToCopyDoNotWait) {
    std::atomic<int> begun{0}, ended{0};
    fake_cuda::before("cuMemcpyHtoDAsync", [&] {
        begun++;
        EXPECT_TRUE(comes_to(ended, n - 1));
    });
    copy(
        false, [&] { EXPECT_TRUE(comes_to(begun, 1)); }, [&] { ended++; });
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
