// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device memory: the order in which it is freed, limits, statistics, room, and allocators of the
// application: S44 and S45.
#include <atomic>
#include <stdexcept>

#include "harness/nothing_module.h"
#include "harness/processes.h"
#include "runtime/abi/device_memory.h"
#include "runtime/abi/runtime_opencl.h"
#include "runtime/cuda/fixture.h"

namespace {

using calotype_test::FakeCuda;
using calotype_test::Ints;

class CudaMemory : public FakeCuda {
protected:
    calotype_device_context on = {}, without_stream = {};

    CudaMemory() {
        on = CALOTYPE_DEVICE_CONTEXT(make_context(), nullptr);
        without_stream = on;
        on.stream = make_stream(on.context);
    }
    ~CudaMemory() override {
        calotype_reuse_device_allocations(&on, false);
        calotype_set_device_allocator(cuda(), nullptr);
        const calotype_memory_limits none = {sizeof none, -1, 0, CALOTYPE_KEEP_DEFAULT};
        EXPECT_EQ(CALOTYPE_OK, calotype_set_memory_limits(cuda(), &none));
        EXPECT_EQ(CALOTYPE_OK, calotype_release_context(&on, CALOTYPE_REL_BUSY, 0));
        EXPECT_EQ(0, fake_cuda::live_allocations());
        EXPECT_EQ(0u, stats().pieces);
        EXPECT_EQ(0u, stats().in_use);
        EXPECT_EQ(0, cuCtxDestroy_v2(on.context));
        EXPECT_EQ(0, fake_cuda::calls_for_the_dead());
    }
    static void allocate(const calotype_device_context &on, Ints &a) {
        EXPECT_EQ(0, calotype_device_malloc(user_context(on), &a.buf, cuda()));
    }
    static void free(const calotype_device_context &on, Ints &a) {
        EXPECT_EQ(0, calotype_device_free(user_context(on), &a.buf));
    }
    static void *user_context(const calotype_device_context &on) {
        return const_cast<calotype_device_context *>(&on);
    }
    static calotype_memory_stats stats() {
        calotype_memory_stats s = {};
        s.size = sizeof s;
        EXPECT_EQ(CALOTYPE_OK, calotype_get_memory_stats(cuda(), -1, &s));
        return s;
    }
};

/// Calls that name no stream may free what streams still use.
TEST_F(CudaMemory, WhatStreamsUseIsFreedAfterThem) {
    for (const bool reuse : {false, true}) {
        calotype_reuse_device_allocations(&on, reuse);
        Ints a(64);
        allocate(on, a);
        fake_cuda::hold_stream(on.context, on.stream);
        EXPECT_EQ(Calls(), calls_of({"cuCtxSynchronize", "cuStreamSynchronize", "cuMemFree"},
                                    [&] { free(without_stream, a); }))
            << "nothing is waited for";
        EXPECT_EQ(1, fake_cuda::live_allocations());
        fake_cuda::release_stream(on.context, on.stream);
        EXPECT_EQ(0, fake_cuda::live_allocations());
    }
    EXPECT_EQ(0, fake_cuda::calls("cuDevicePrimaryCtxRetain")) << "a free makes no context";
}

/// As destructors do: the application may have destroyed that context.
TEST_F(CudaMemory, AContextThatNobodyNamesIsLeftAlone) {
    Ints a(64), b(64), c(64);
    allocate(on, a);
    allocate(on, b);
    EXPECT_EQ(Calls(), calls_of({"cuCtxPushCurrent", "cuCtxGetId", "cuMemFreeAsync"},
                                [&] { EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf)); }));
    EXPECT_EQ(256u, stats().deferred);
    free(on, b);
    EXPECT_EQ(0u, stats().deferred) << "the next call for memory frees it";
    EXPECT_EQ(0, fake_cuda::live_allocations());
    allocate(on, c);
    EXPECT_EQ(0, calotype_device_free(nullptr, &c.buf));  // goes with the release
}

/// The default context is the runtime's own.
/// Another thread releases the context in the middle of a pipeline: the memory of its intermediate
/// Func is freed after the kernel all the same.
TEST_F(CudaMemory, WhatIsFreedWhileTheContextIsReleasedWaitsForItsStream) {
    void *context = make_context();
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, make_stream(context));
    calotype_device_context unnamed = CALOTYPE_DEVICE_CONTEXT(context, nullptr);
    Ints a(10);
    ASSERT_EQ(0, calotype_device_malloc(&on, &a.buf, cuda()));
    ASSERT_EQ(0, calotype_device_sync(&unnamed, &a.buf)) << "after the work of all streams";
    fake_cuda::before("cuStreamDestroy", [&] {
        fake_cuda::before("cuStreamDestroy", nullptr);
        fake_cuda::hold_stream(context, on.stream);
        EXPECT_EQ(0, calotype_device_free(&on, &a.buf));
        EXPECT_EQ(1, fake_cuda::live_allocations()) << "work is queued that may use it";
        fake_cuda::release_stream(context, on.stream);
        EXPECT_EQ(0, fake_cuda::live_allocations());
    });
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(&unnamed, CALOTYPE_REL_BUSY, 0));
    EXPECT_EQ(0u, a.buf.device);
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(&on, CALOTYPE_REL_BUSY, 0));
    EXPECT_EQ(0, cuCtxDestroy_v2(context));
}

TEST_F(CudaMemory, OfTheDefaultContextIsFreedAtOnce) {
    Ints a(64);
    EXPECT_EQ(0, calotype_device_malloc(nullptr, &a.buf, cuda()));
    EXPECT_EQ(0, calotype_device_free(&on, &a.buf));
    EXPECT_EQ(0, fake_cuda::live_allocations());
}

TEST_F(CudaMemory, AFreeThatCannotBeOrderedIsAnErrorAndLosesNothing) {
    Ints a(64);
    allocate(on, a);
    fake_cuda::fail("cuCtxRecordEvent", 999);
    EXPECT_EQ(calotype_error_code_device_free_failed,
              calotype_device_free(&without_stream, &a.buf));
    EXPECT_EQ("freeing a device allocation failed: cuCtxRecordEvent: CUDA error (999)",
              errors.take());
    EXPECT_EQ(0, fake_cuda::live_allocations());
}

TEST_F(CudaMemory, WithoutStreamsNothingIsOrdered) {
    Ints a(64);
    allocate(without_stream, a);
    EXPECT_EQ(Calls(),
              calls_of({"cuCtxRecordEvent", "cuStreamCreate"}, [&] { free(without_stream, a); }));
}

/// A capture would be broken by what the free is ordered by.
TEST_F(CudaMemory, WhatIsFreedWhileTheContextIsCapturedWaits) {
    Ints a(64), b(64);
    allocate(on, a);
    void *captured = make_stream(on.context), *graph = nullptr;
    EXPECT_EQ(0, cuCtxPushCurrent_v2(on.context));
    EXPECT_EQ(0, cuStreamBeginCapture_v2(captured, 0));
    free(without_stream, a);
    EXPECT_EQ(1, fake_cuda::live_allocations());
    EXPECT_EQ(256u, stats().deferred);
    EXPECT_EQ(0, cuStreamEndCapture(captured, &graph)) << "it goes on";
    EXPECT_EQ(0, cuGraphDestroy(graph));
    void *popped;
    EXPECT_EQ(0, cuCtxPopCurrent_v2(&popped));
    allocate(on, b);
    EXPECT_EQ(1, fake_cuda::live_allocations()) << "the next call for memory frees it";
    EXPECT_EQ(0u, stats().deferred);
    free(on, b);
}

/// S44: what one context keeps is there for another of the device, modules included.
TEST_F(CudaMemory, RoomIsMadeInAllContextsOfTheDevice) {
    fake_cuda::set_memory(2000);
    const uint64_t retries = stats().retries;
    calotype_device_context other = CALOTYPE_DEVICE_CONTEXT(make_context(), nullptr);
    other.stream = make_stream(other.context);
    calotype_test::NothingModule module;
    EXPECT_EQ(0, module.call(&other));
    calotype_reuse_device_allocations(&other, true);
    const calotype_memory_limits limits = {sizeof limits, -1, 0, 2000};
    EXPECT_EQ(CALOTYPE_OK, calotype_set_memory_limits(cuda(), &limits));
    Ints a(300), b(300);
    allocate(other, a);
    free(other, a);
    EXPECT_EQ(1, fake_cuda::live_allocations()) << "kept";
    EXPECT_LE(1200u, stats().kept);
    EXPECT_EQ(1, fake_cuda::live_modules());
    allocate(on, b);
    EXPECT_EQ(1, fake_cuda::live_allocations());
    EXPECT_EQ(0, fake_cuda::live_modules()) << "idle ones go as well";
    EXPECT_EQ(retries + 1, stats().retries);
    EXPECT_EQ(0u, stats().kept);
    free(on, b);
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(&other, CALOTYPE_REL_BUSY, 0));
    EXPECT_EQ(0, cuCtxDestroy_v2(other.context));
}

TEST_F(CudaMemory, WhatThePoolKeepsGoesWhenMemoryRunsOut) {
    fake_cuda::set_memory(1000);
    Ints a(10), b(200);
    allocate(on, a);
    fake_cuda::keep_in_pools(500);
    EXPECT_EQ(500u, stats().kept);
    allocate(on, b);
    EXPECT_EQ(0u, stats().kept);
    free(on, a);
    free(on, b);
}

TEST_F(CudaMemory, Statistics) {
    const calotype_memory_stats before = stats();
    Ints a(10), b(20);
    allocate(on, a);
    allocate(on, b);
    EXPECT_EQ(2u, stats().pieces);
    EXPECT_EQ(120u, stats().in_use);
    free(on, b);
    EXPECT_EQ(40u, stats().in_use);
    EXPECT_LE(120u, stats().peak);
    EXPECT_EQ(before.allocations + 2, stats().allocations);
    EXPECT_EQ(before.frees + 1, stats().frees);
    free(on, a);
}

TEST_F(CudaMemory, ALimitIsNamed) {
    const calotype_memory_limits limits = {sizeof limits, 0, 100, 0};
    EXPECT_EQ(CALOTYPE_OK, calotype_set_memory_limits(cuda(), &limits));
    Ints a(20), b(10);
    allocate(on, a);
    EXPECT_EQ(calotype_error_code_device_malloc_failed,
              calotype_device_malloc(&on, &b.buf, cuda()));
    EXPECT_EQ(
        "device allocation failed: no 40 bytes on CUDA device 0: 80 bytes are in use, and the "
        "limit is 100; 1073741744 of 1073741824 bytes are free",
        errors.take());
    free(on, a);
    allocate(on, b);
    free(on, b);
}

TEST_F(CudaMemory, WhatIsKeptIsLimited) {
    const calotype_memory_limits limits = {sizeof limits, 0, 0, 1024};
    EXPECT_EQ(CALOTYPE_OK, calotype_set_memory_limits(cuda(), &limits));
    calotype_reuse_device_allocations(&on, true);
    Ints a(128), b(128), c(128);
    for (Ints *ints : {&a, &b, &c}) {
        allocate(on, *ints);
    }
    for (Ints *ints : {&a, &b, &c}) {
        free(on, *ints);
    }
    EXPECT_EQ(1024u, stats().kept);
    EXPECT_EQ(2, fake_cuda::live_allocations());
}

// ---- allocators of the application -----------------------------------------------------------

/// One over host memory, which is device memory for the fake driver.
struct Mine {
    std::atomic<int> live{0}, out_of_memory{0}, trims{0};
    bool throws = false, is_misaligned = false, refuses = false;
    calotype_device_place last = {};
    calotype_device_allocator functions = {sizeof functions, this, allocate, free, trim, kept};

    static calotype_status allocate(void *self, const calotype_device_place *place, uint64_t bytes,
                                    uint64_t *address) {
        Mine &mine = *static_cast<Mine *>(self);
        mine.last = *place;
        if (mine.throws) {
            throw std::runtime_error("no");
        }
        if (mine.out_of_memory > 0) {
            mine.out_of_memory--;
            return CALOTYPE_E_OOM;
        }
        if (mine.refuses) {
            return CALOTYPE_E_INVALID;
        }
        void *memory = aligned_alloc(calotype_device_alignment, (bytes + 1023) / 512 * 512);
        mine.live++;
        *address = reinterpret_cast<uint64_t>(memory) + (mine.is_misaligned ? 4 : 0);
        return CALOTYPE_OK;
    }
    static calotype_status free(void *self, const calotype_device_place *place, uint64_t address,
                                uint64_t) {
        Mine &mine = *static_cast<Mine *>(self);
        mine.last = *place;
        ::free(reinterpret_cast<void *>(address & ~uint64_t(calotype_device_alignment - 1)));
        mine.live--;
        return CALOTYPE_OK;
    }
    static void trim(void *self, const calotype_device_place *, uint64_t) {
        static_cast<Mine *>(self)->trims++;
    }
    static uint64_t kept(void *, int32_t device) {
        return device == 0 ? 5 : 0;
    }
};

/// Never destroyed, as the runtime may trim it for as long as the process lives.
Mine &mine() {
    static Mine &mine = *new Mine;
    mine.throws = mine.is_misaligned = mine.refuses = false;
    mine.out_of_memory = 0;
    return mine;
}

TEST_F(CudaMemory, AnAllocatorOfTheApplication) {
    Mine &own = mine();
    Ints before(10), a(10);
    allocate(on, before);
    ASSERT_EQ(CALOTYPE_OK, calotype_set_device_allocator(cuda(), &own.functions));
    allocate(on, a);
    EXPECT_EQ(1, own.live);
    EXPECT_EQ(on.context, own.last.context);
    EXPECT_EQ(on.stream, own.last.stream);
    EXPECT_EQ(&on, own.last.user_context);
    EXPECT_EQ(5u, stats().kept);
    free(on, before);
    EXPECT_EQ(0, fake_cuda::live_allocations()) << "back where it came from";
    ASSERT_EQ(CALOTYPE_OK, calotype_set_device_allocator(cuda(), nullptr));
    free(without_stream, a);
    EXPECT_EQ(0, own.live) << "back where it came from";
    EXPECT_NE(nullptr, own.last.stream) << "one that is after all work of the context";
}

TEST_F(CudaMemory, AnAllocatorThatFails) {
    Mine &own = mine();
    Ints a(10);
    ASSERT_EQ(CALOTYPE_OK, calotype_set_device_allocator(cuda(), &own.functions));
    own.out_of_memory = 1;
    const int trims = own.trims;
    allocate(on, a);
    EXPECT_LT(trims, own.trims) << "it is asked once more when room has been made";
    free(on, a);
    const auto message_of = [&] {
        EXPECT_EQ(calotype_error_code_device_malloc_failed,
                  calotype_device_malloc(&on, &a.buf, cuda()));
        const std::string all = errors.take();
        return all.substr(0, all.find("; "));
    };
    const std::string begin = "device allocation failed: no 40 bytes on CUDA device 0: ";
    own.out_of_memory = 2;
    EXPECT_EQ(begin + "the device allocator answered status " + std::to_string(CALOTYPE_E_OOM),
              message_of());
    own.refuses = true;
    EXPECT_EQ(begin + "the device allocator answered status " + std::to_string(CALOTYPE_E_INVALID),
              message_of());
    own.refuses = false;
    own.throws = true;
    EXPECT_EQ(begin + "the device allocator threw an exception", message_of());
    own.throws = false;
    own.is_misaligned = true;
    EXPECT_EQ(0u, message_of().find(begin + "the device allocator answered the address 0x"));
    EXPECT_EQ(0, own.live) << "what is refused goes back";
}

TEST_F(CudaMemory, BadInput) {
    calotype_device_allocator incomplete = {sizeof incomplete, nullptr, nullptr,
                                            nullptr,           nullptr, nullptr};
    EXPECT_EQ(CALOTYPE_E_INVALID, calotype_set_device_allocator(cuda(), &incomplete));
    EXPECT_STREQ("a device allocator needs the functions allocate and free",
                 calotype_last_error()->log);
    incomplete.size = 8;
    EXPECT_EQ(CALOTYPE_E_INVALID, calotype_set_device_allocator(cuda(), &incomplete));
    EXPECT_EQ(CALOTYPE_E_INVALID, calotype_set_device_allocator(nullptr, nullptr));
    calotype_memory_limits limits = {sizeof limits, 64, 0, 0};
    EXPECT_EQ(CALOTYPE_E_INVALID, calotype_set_memory_limits(cuda(), &limits));
    EXPECT_EQ(CALOTYPE_E_INVALID, calotype_set_memory_limits(cuda(), nullptr));
    calotype_memory_stats s = {};
    EXPECT_EQ(CALOTYPE_E_INVALID, calotype_get_memory_stats(cuda(), 0, &s));
    s.size = sizeof s;
    EXPECT_EQ(CALOTYPE_E_INVALID, calotype_get_memory_stats(cuda(), -2, &s));
}

TEST_F(CudaMemory, OfOpenClHasNoAddresses) {
    calotype_memory_stats s = {};
    s.size = sizeof s;
    EXPECT_EQ(CALOTYPE_E_INVALID,
              calotype_get_memory_stats(calotype_opencl_device_interface(), 0, &s));
    EXPECT_STREQ("device memory of OpenCL has no addresses, so no allocator, limits or statistics "
                 "of it",
                 calotype_last_error()->log);
}

/// Nothing has been said about reuse in this process, as in an application that says nothing.
TEST(CudaMemoryByDefault, OneProcess) {
    if (!calotype_test::is_process_of_test()) {
        GTEST_SKIP() << "started by the test below in a process of its own";
    }
    fake_cuda::reset();
    EXPECT_EQ(0, calotype_cuda_set_driver_library(CALOTYPE_FAKE_CUDA));
    const calotype_device_interface_t *cuda = calotype_cuda_device_interface();
    const auto allocate_and_free = [&](int ints) {
        Ints a(ints);
        EXPECT_EQ(0, calotype_device_malloc(nullptr, &a.buf, cuda));
        const uint64_t where = a.buf.device;
        EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
        return where;
    };
    const auto calls = [] {
        return fake_cuda::calls("cuMemAllocFromPoolAsync") + fake_cuda::calls("cuMemFreeAsync");
    };
    const uint64_t where = allocate_and_free(1000);
    const long before = calls();
    EXPECT_EQ(where, allocate_and_free(1000));
    EXPECT_EQ(before, calls()) << "what a pipeline allocates in each call is kept for the next";
    for (int size = 1; size < 500; size++) {
        allocate_and_free(size);
    }
    EXPECT_LE(fake_cuda::live_allocations(), 64) << "of sizes that do not come again, few";
    EXPECT_FALSE(calotype_can_reuse_device_allocations(nullptr));
    EXPECT_EQ(0, calotype_reuse_device_allocations(nullptr, false));
    EXPECT_EQ(0, fake_cuda::live_allocations());
    allocate_and_free(1000);
    EXPECT_EQ(0, fake_cuda::live_allocations()) << "not where it was switched off";
    calotype_device_release(nullptr, cuda);
}

TEST(CudaMemoryByDefault, WhatPipelinesFreeIsKeptForTheNextCall) {
    calotype_test::Processes processes;
    processes.run("CudaMemoryByDefault.OneProcess");
}

}  // namespace
