// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What statistics cost, in operations: a warm call does what it would do without them and adds to a
// counter of its own thread; who reads them asks the driver for what its pools keep.
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "harness/cache_stats.h"
#include "harness/nothing_module.h"
#include "runtime/abi/device_memory.h"
#include "runtime/cuda/fixture.h"
#include "runtime/device/cache/table.h"

namespace {

using calotype_test::cache_stats;
using calotype_test::FakeCuda;
using calotype_test::Ints;

class CudaStatistics : public FakeCuda {
protected:
    calotype_test::NothingModule module;
    calotype_device_context on = {};

    CudaStatistics() {
        void *context = make_context();
        on = CALOTYPE_DEVICE_CONTEXT(context, make_stream(context));
        EXPECT_EQ(0, module.call(&on));
    }
    ~CudaStatistics() override {
        EXPECT_EQ(CALOTYPE_OK, calotype_release_context(&on, CALOTYPE_REL_BUSY, 0));
    }
    /// Of all functions of the driver.
    template<typename F>
    static Calls calls_of(F f) {
        return FakeCuda::calls_of(
            {
#define CALOTYPE_CUDA_CALL(name, suffix, since, parameters) #name,
#include "runtime/cuda/driver.def"
#undef CALOTYPE_CUDA_CALL
            },
            f);
    }
    static calotype_memory_stats memory_stats() {
        calotype_memory_stats s = {};
        s.size = sizeof s;
        EXPECT_EQ(CALOTYPE_OK, calotype_get_memory_stats(cuda(), -1, &s));
        return s;
    }
};

TEST_F(CudaStatistics, AWarmCallCountsOneHitAndNothingElse) {
    constexpr long n = 100;
    calotype_stats before = cache_stats();
    const calotype_memory_stats memory = memory_stats();
    EXPECT_EQ((Calls{{"cuCtxGetId", n}, {"cuLaunchKernel", n}, {"cuStreamIsCapturing", n}}),
              calls_of([&] {
                  for (long i = 0; i < n; i++) {
                      EXPECT_EQ(0, module.call(&on));
                  }
              }));
    const calotype_stats after = cache_stats();
    before.hits += n;
    EXPECT_EQ(0, std::memcmp(&before, &after, sizeof after));
    const calotype_memory_stats memory_after = memory_stats();
    EXPECT_EQ(0, std::memcmp(&memory, &memory_after, sizeof memory));
}

// The lock under which statistics are added up is none of a warm call's.
TEST_F(CudaStatistics, AWarmCallDoesNotWaitForThoseWhoRead) {
    std::atomic<bool> is_warm{false}, is_locked{false}, is_done{false};
    std::thread caller([&] {
        EXPECT_EQ(0, module.call(&on));  // so that the thread is known
        is_warm = true;
        while (!is_locked) {
            std::this_thread::yield();
        }
        EXPECT_EQ(0, module.call(&on));
        is_done = true;
    });
    while (!is_warm) {
        std::this_thread::yield();
    }
    {
        calotype::runtime::LockGuard guard(calotype::runtime::kernel_cache.lock);
        is_locked = true;
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        while (!is_done && std::chrono::steady_clock::now() < deadline) {
            std::this_thread::yield();
        }
        EXPECT_TRUE(is_done) << "the call takes the cache's lock";
    }
    caller.join();
}

TEST_F(CudaStatistics, ReadingThemAsksPoolsAlone) {
    EXPECT_EQ(Calls(), calls_of([] { cache_stats(); }));
    EXPECT_EQ(Calls(), calls_of([] { memory_stats(); })) << "there is no pool yet";
    Ints a(64);
    EXPECT_EQ(0, calotype_device_malloc(&on, &a.buf, cuda()));
    EXPECT_EQ((Calls{{"cuMemPoolGetAttribute", 2}}), calls_of([] { memory_stats(); }));
    EXPECT_EQ(0, calotype_device_free(&on, &a.buf));
}

}  // namespace
