// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The first memory of a context: nobody waits for the pool, which a thread makes, and until it is
// there pieces come from the driver and are kept in the order of streams.
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/nothing_module.h"
#include "harness/processes.h"
#include "runtime/abi/kernel_cache.h"
#include "runtime/cuda/fixture.h"
#include "runtime/device/cache/kernel_cache.h"

namespace {

using calotype_test::FakeCuda;
using calotype_test::Ints;
using calotype_test::NothingModule;

constexpr const char *first_of_pool = "cuMemAllocFromPoolAsync";
constexpr size_t kib = 1024;

/// Threads that come to a call of the driver stop there until it is opened.
class Gate {
    struct State {
        std::mutex lock;
        std::condition_variable changed;
        bool is_open = false;
        int arrived = 0;
    };
    std::shared_ptr<State> state = std::make_shared<State>();

public:
    explicit Gate(const char *call) {
        fake_cuda::before(call, [state = state] {
            std::unique_lock<std::mutex> guard(state->lock);
            state->arrived++;
            state->changed.notify_all();
            state->changed.wait(guard, [&] { return state->is_open; });
        });
    }
    ~Gate() {
        open();
    }
    void open() {
        std::lock_guard<std::mutex> guard(state->lock);
        state->is_open = true;
        state->changed.notify_all();
    }
    void await_arrival() {
        std::unique_lock<std::mutex> guard(state->lock);
        state->changed.wait(guard, [&] { return state->arrived > 0; });
    }
};

class CudaFirstMemory : public FakeCuda {
protected:
    CudaFirstMemory() {
        make_pools_beside(true);
    }
    /// The pool is there, and the thread that made it is not.
    static void await_thread() {
        calotype::runtime::end_prefetches();
    }
    static uint64_t allocate(Ints &ints, calotype_device_context *on = nullptr) {
        EXPECT_EQ(0, calotype_device_malloc(on, &ints.buf, cuda()));
        return ints.buf.device;
    }
    static void free(Ints &ints, calotype_device_context *on = nullptr) {
        EXPECT_EQ(0, calotype_device_free(on, &ints.buf));
    }
    template<typename F>
    static Calls memory_calls(F f) {
        return calls_of({"cuMemAlloc", "cuMemFree", "cuMemPoolCreate", "cuMemAllocFromPoolAsync",
                         "cuMemFreeAsync", "cuMemPoolDestroy"},
                        f);
    }
    /// Retained, as applications do.
    static void *primary_context() {
        void *context = nullptr;
        EXPECT_EQ(0, cuDevicePrimaryCtxRetain(&context, 0));
        return context;
    }
};

const std::map<std::string, long> a_pool = {
    {"cuMemPoolCreate", 1}, {"cuMemAllocFromPoolAsync", 1}, {"cuMemFreeAsync", 1}};

TEST_F(CudaFirstMemory, DoesNotWaitForThePool) {
    Gate gate(first_of_pool);
    Ints a(100), b(101), c(5000), d(100);
    EXPECT_EQ((Calls{{"cuMemAlloc", 2}, {"cuMemPoolCreate", 1}}), memory_calls([&] {
                  const uint64_t where = allocate(a);
                  a.buf.set_host_dirty();
                  EXPECT_EQ(0, calotype_copy_to_device(nullptr, &a.buf, cuda()));
                  EXPECT_EQ(42, a.on_device()[41]);
                  free(a);
                  EXPECT_EQ(where, allocate(b)) << "sizes of one class share a piece";
                  allocate(c);
                  gate.await_arrival();
              }));
    EXPECT_EQ(1, fake_cuda::calls("cuDevicePrimaryCtxGetState"));
    EXPECT_EQ(2, fake_cuda::primary_retains(0));
    gate.open();
    await_thread();
    EXPECT_EQ(1, fake_cuda::primary_retains(0));
    EXPECT_EQ(1, fake_cuda::live_pools());
    EXPECT_EQ((Calls{{"cuMemAllocFromPoolAsync", 1}, {"cuMemFreeAsync", 1}}), memory_calls([&] {
                  allocate(d);
                  free(d);
              }));
    EXPECT_EQ((Calls{}), memory_calls([&] {
                  free(b);
                  free(c);
              }))
        << "cuMemFree would wait for the device";
    EXPECT_EQ(2, fake_cuda::live_allocations());
    EXPECT_EQ((Calls{{"cuMemFree", 2}}), memory_calls([] {
                  EXPECT_EQ(0, calotype_cuda_release_unused_device_allocations(nullptr));
              }));
}

/// Graphs that are replayed have their buffers where they had them before.
TEST_F(CudaFirstMemory, IsInTheSamePlacesWhenAPipelineIsCalledAgain) {
    Gate gate(first_of_pool);
    Ints a(100), b(100);
    uint64_t first = allocate(a), second = allocate(b);
    gate.await_arrival();
    if (first > second) {
        std::swap(first, second);
    }
    for (const bool is_second_freed_first : {false, true, false}) {
        free(is_second_freed_first ? b : a);
        free(is_second_freed_first ? a : b);
        EXPECT_EQ(first, allocate(a));
        EXPECT_EQ(second, allocate(b));
    }
    free(a);
    free(b);
    gate.open();
    await_thread();
}

TEST_F(CudaFirstMemory, NoThreadWithoutMemory) {
    EXPECT_EQ(0, NothingModule().call(nullptr));
    EXPECT_EQ(0, fake_cuda::calls("cuDevicePrimaryCtxGetState"));
    EXPECT_EQ(0, fake_cuda::calls("cuMemPoolCreate"));
}

TEST_F(CudaFirstMemory, OfManyThreadsMakesOnePool) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; t++) {
        threads.emplace_back([t] {
            for (int i = 0; i < 50; i++) {
                Ints a(10 + 100 * i);
                a.buf.set_host_dirty();
                EXPECT_EQ(0, calotype_copy_to_device(nullptr, &a.buf, cuda()));
                a.on_device()[i] = t;
                a.buf.set_device_dirty();
                EXPECT_EQ(0, calotype_copy_to_host(nullptr, &a.buf));
                EXPECT_EQ(t, a.data[size_t(i)]);
                free(a);
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    await_thread();
    EXPECT_EQ(1, fake_cuda::calls("cuMemPoolCreate"));
    EXPECT_EQ(0, fake_cuda::calls("cuMemFree"));
    EXPECT_EQ(0, calotype_device_sync_global(nullptr, cuda()));
    EXPECT_EQ(0, fake_cuda::live_allocations());
}

TEST_F(CudaFirstMemory, IsReusedInTheOrderOfItsStreamAlone) {
    void *context = primary_context(), *foreign = make_context();
    calotype_device_context one = CALOTYPE_DEVICE_CONTEXT(context, make_stream(context));
    calotype_device_context two = CALOTYPE_DEVICE_CONTEXT(context, make_stream(context));
    calotype_device_context there = CALOTYPE_DEVICE_CONTEXT(foreign, nullptr);
    Gate gate(first_of_pool);
    Ints a(1000), b(1000), c(1000), d(1000);
    const uint64_t where = allocate(a, &one);
    free(a, &one);
    EXPECT_NE(where, allocate(b, &two)) << "what another stream still does is not waited for";
    EXPECT_EQ(where, allocate(c, &one));
    // From another context, or without a stream: after what all streams of its own do.
    free(c, &there);
    EXPECT_NE(where, allocate(d, &one));
    free(d);
    EXPECT_NE(where, allocate(d, nullptr));
    free(d);
    free(b, &two);
    EXPECT_EQ(4, fake_cuda::calls("cuMemAlloc"));
    EXPECT_EQ(0, fake_cuda::calls("cuMemFree"));
    gate.open();
    calotype_device_release(&one, cuda());
    EXPECT_EQ(0, fake_cuda::live_allocations());
    EXPECT_EQ(0, cuDevicePrimaryCtxRelease_v2(0));
    calotype_device_release(&there, cuda());
    EXPECT_EQ(0, cuCtxDestroy_v2(foreign));
}

/// What is idle goes where nothing is waited for, unless it is to be reused.
TEST_F(CudaFirstMemory, ServesOnAndGoesWhenAllWorkIsDone) {
    for (const bool reuse : {false, true}) {
        calotype_reuse_device_allocations(nullptr, reuse);
        Ints a(1000), b(1000), c(5);
        const uint64_t where = allocate(a);
        EXPECT_EQ(0, calotype_device_sync_global(nullptr, cuda())) << "it is in use";
        await_thread();
        free(a);
        EXPECT_EQ((Calls{}), memory_calls([&] { EXPECT_EQ(where, allocate(b)); }));
        free(b);
        allocate(c);
        EXPECT_EQ((Calls{}),
                  memory_calls([&] { EXPECT_EQ(0, calotype_device_sync(nullptr, &c.buf)); }))
            << "others may be at work";
        free(c);
        Calls gone;
        if (!reuse) {
            gone["cuMemFree"] = 1;
        }
        EXPECT_EQ(gone,
                  memory_calls([] { EXPECT_EQ(0, calotype_device_sync_global(nullptr, cuda())); }));
        EXPECT_EQ(reuse ? 2 : 0, fake_cuda::live_allocations());
        calotype_device_release(nullptr, cuda());
    }
    calotype_reuse_device_allocations(nullptr, false);
}

/// No more than an eighth of the device's memory is kept, by the pool and without it.
TEST_F(CudaFirstMemory, BeyondAnEighthIsThePools) {
    fake_cuda::set_memory(8192 * kib);
    start();
    fake_cuda::delay(first_of_pool, 50);
    Ints a(512 * kib / 4), b(768 * kib / 4), c(2000 * kib / 4), d(100);
    Calls calls = a_pool;
    calls["cuMemAlloc"] = 1;
    calls["cuMemAllocFromPoolAsync"]++;
    EXPECT_EQ(calls, memory_calls([&] {
                  allocate(a);
                  allocate(b);  // waits
              }));
    EXPECT_EQ(2, fake_cuda::calls("cuMemPoolSetAttribute")) << "the pool keeps less meanwhile";
    EXPECT_EQ((Calls{{"cuMemFreeAsync", 1}}), memory_calls([&] { free(b); }));
    free(a);
    EXPECT_EQ(0, calotype_device_sync_global(nullptr, cuda()));
    allocate(d);
    free(d);
    EXPECT_EQ(3, fake_cuda::calls("cuMemPoolSetAttribute"));
    calotype_device_release(nullptr, cuda());
    // One that is too large by itself.
    EXPECT_EQ(2, memory_calls([&] { allocate(c); })[first_of_pool]);
    free(c);
}

TEST_F(CudaFirstMemory, MakesRoomForItself) {
    Gate gate(first_of_pool);
    Ints a(1000), b(2000);
    allocate(a);
    free(a);
    gate.await_arrival();
    fake_cuda::fail("cuMemAlloc", 2);
    EXPECT_EQ((Calls{{"cuMemAlloc", 2}, {"cuMemFree", 1}}), memory_calls([&] { allocate(b); }));
    free(b);
    fake_cuda::fail("cuMemAlloc", 2, 1, 2);
    EXPECT_NE(0, calotype_device_malloc(nullptr, &a.buf, cuda()));
    EXPECT_EQ("device allocation failed: cuMemAlloc of 4000 bytes: CUDA_ERROR_OUT_OF_MEMORY (2), "
              "out of memory; 1073741824 of 1073741824 bytes are free",
              errors.take());
    EXPECT_EQ(0, fake_cuda::live_allocations());
}

/// The driver cannot make one: nobody is told, pieces are kept up to the limit.
TEST_F(CudaFirstMemory, IsTheDriversIfThereIsNoPool) {
    fake_cuda::set_memory(8192 * kib);
    start();
    fake_cuda::fail("cuMemPoolCreate", 999);
    Ints a(1000), b(1000), c(2000 * kib / 4);
    const uint64_t where = allocate(a);
    await_thread();
    EXPECT_EQ(0, fake_cuda::live_pools());
    EXPECT_EQ(1, fake_cuda::primary_retains(0));
    free(a);
    EXPECT_EQ((Calls{{"cuMemAlloc", 1}}), memory_calls([&] {
                  EXPECT_EQ(where, allocate(b));
                  allocate(c);
              }));
    EXPECT_EQ((Calls{{"cuMemFree", 1}}), memory_calls([&] { free(c); }));
    EXPECT_EQ((Calls{}), memory_calls([&] { free(b); }));
    EXPECT_EQ(1, fake_cuda::calls("cuMemPoolCreate"));
    // Released, it is asked for once more.
    calotype_device_release(nullptr, cuda());
    allocate(a);
    await_thread();
    EXPECT_EQ(1, fake_cuda::live_pools());
    free(a);
}

/// The thread cannot be seen by captures, and those who capture wait for it.
TEST_F(CudaFirstMemory, CapturesAreLeftAlone) {
    void *context = primary_context();
    void *stream = make_stream(context), *graph = nullptr;
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, stream);
    Ints a(10), b(10), c(10), d(10);
    EXPECT_EQ(0, cuStreamBeginCapture_v2(stream, 0));
    fake_cuda::delay(first_of_pool, 30);
    allocate(a);  // on the default stream
    Calls calls = a_pool;
    calls["cuMemAllocFromPoolAsync"]++;
    calls["cuMemFreeAsync"]++;
    Calls made = memory_calls([&] {
        allocate(b, &on);
        free(b, &on);
        free(a, &on);
    });
    made["cuMemPoolCreate"] = 1;  // or before
    EXPECT_EQ(calls, made);
    EXPECT_EQ(0, cuStreamEndCapture(stream, &graph)) << "nobody has broken it";
    EXPECT_EQ(0, cuGraphDestroy(graph));
    await_thread();
    EXPECT_EQ((Calls{}), memory_calls([&] { allocate(c, &on); })) << "what was freed in it";
    free(c, &on);
    // Nor does a call that gives back.
    EXPECT_EQ(0, cuStreamBeginCapture_v2(stream, 0));
    EXPECT_EQ((Calls{{"cuMemFree", 1}}), memory_calls([&] {
                  EXPECT_EQ(0, calotype_cuda_release_unused_device_allocations(nullptr));
              }));
    EXPECT_EQ(0, cuStreamEndCapture(stream, &graph));
    EXPECT_EQ(0, cuGraphDestroy(graph));
    calotype_device_release(&on, cuda());
    EXPECT_EQ(0, cuDevicePrimaryCtxRelease_v2(0));
}

TEST_F(CudaFirstMemory, ACaptureThatNeedsMemoryMakesThePool) {
    void *context = primary_context();
    void *stream = make_stream(context), *graph = nullptr;
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, stream);
    Ints a(10);
    EXPECT_EQ(0, cuStreamBeginCapture_v2(stream, 0));
    EXPECT_EQ(a_pool, memory_calls([&] {
                  allocate(a, &on);
                  free(a, &on);
              }));
    EXPECT_EQ(0, fake_cuda::calls("cuDevicePrimaryCtxGetState"));
    EXPECT_EQ(0, cuStreamEndCapture(stream, &graph));
    EXPECT_EQ(0, cuGraphDestroy(graph));
    calotype_device_release(&on, cuda());
    EXPECT_EQ(0, cuDevicePrimaryCtxRelease_v2(0));
}

/// A thread would need such a context, which its owner may destroy at any time.
TEST_F(CudaFirstMemory, ContextsOfTheApplicationHaveTheirPoolAtOnce) {
    void *primary = primary_context(), *context = make_context();
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, nullptr);
    Ints a(10);
    EXPECT_EQ(a_pool, memory_calls([&] {
                  allocate(a, &on);
                  free(a, &on);
              }));
    EXPECT_EQ(0, cuCtxDestroy_v2(context));
    EXPECT_EQ(1, fake_cuda::primary_retains(0));
    on.context = primary;
    EXPECT_EQ(1, memory_calls([&] { allocate(a, &on); })["cuMemAlloc"]) << "however it is named";
    free(a, &on);
    calotype_device_release(&on, cuda());
    EXPECT_EQ(0, cuDevicePrimaryCtxRelease_v2(0));
}

TEST_F(CudaFirstMemory, OldDriversMakeThePoolAtOnce) {
    const auto old = calotype_set_custom_get_library_symbol([](void *lib, const char *name) {
        return std::string(name) == "cuStreamGetId"
                   ? nullptr
                   : calotype_default_get_library_symbol(lib, name);
    });
    start();
    calotype_set_custom_get_library_symbol(old);
    Ints a(10);
    EXPECT_EQ(a_pool, memory_calls([&] {
                  allocate(a);
                  free(a);
              }));
    EXPECT_EQ(0, fake_cuda::calls("cuDevicePrimaryCtxGetState"));
}

// ---- contexts that end meanwhile -------------------------------------------------------------

TEST_F(CudaFirstMemory, TheContextIsReset) {
    for (const char *where : {"cuMemPoolCreate", first_of_pool, "cuMemFreeAsync"}) {
        SCOPED_TRACE(where);
        Gate gate(where);
        Ints a(10), b(10);
        allocate(a);
        allocate(b);
        free(b);
        gate.await_arrival();
        EXPECT_EQ(0, cuDevicePrimaryCtxReset_v2(0));
        gate.open();
        await_thread();
        fake_cuda::before(where, nullptr);
        EXPECT_EQ(0, fake_cuda::live_pools()) << "nobody has use for it";
        EXPECT_EQ(0, fake_cuda::live_allocations());
        EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf)) << "it went with the context";
        allocate(b);
        free(b);
        calotype_device_release(nullptr, cuda());
        EXPECT_EQ(0, fake_cuda::primary_retains(0));
        EXPECT_EQ(0, fake_cuda::live_allocations());
    }
}

/// Whoever gives the context up does not end it under the thread.
TEST_F(CudaFirstMemory, TheContextIsGivenUp) {
    void *context = primary_context();
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, nullptr);
    Gate gate(first_of_pool);
    Ints a(10);
    allocate(a, &on);
    gate.await_arrival();
    EXPECT_EQ(0, cuDevicePrimaryCtxRelease_v2(0));
    EXPECT_EQ(1, fake_cuda::live_contexts());
    gate.open();
    await_thread();
    EXPECT_EQ(0, fake_cuda::live_contexts());
    EXPECT_EQ(0, fake_cuda::live_allocations());
    EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
}

TEST_F(CudaFirstMemory, TheContextIsToldLost) {
    EXPECT_EQ(0, NothingModule().call(nullptr));
    Gate gate(first_of_pool);
    Ints a(10), b(10);
    allocate(a);
    allocate(b);
    free(b);
    gate.await_arrival();
    uint64_t uid = 0;
    EXPECT_EQ(CALOTYPE_OK, calotype_context_uid(nullptr, cuda(), &uid));
    EXPECT_EQ(0, cuDevicePrimaryCtxReset_v2(0));
    EXPECT_EQ(CALOTYPE_OK, calotype_context_lost(uid));
    EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
    gate.open();
    await_thread();
    EXPECT_EQ(0, fake_cuda::live_pools());
    EXPECT_EQ(0, fake_cuda::live_allocations());
}

TEST_F(CudaFirstMemory, TheDeviceIsReleased) {
    fake_cuda::delay(first_of_pool, 50);
    Ints a(10);
    allocate(a);
    free(a);
    calotype_device_release(nullptr, cuda());
    EXPECT_EQ(0, fake_cuda::live_pools());
    EXPECT_EQ(0, fake_cuda::live_allocations());
    EXPECT_EQ(0, fake_cuda::live_contexts());
    EXPECT_EQ(0, fake_cuda::primary_retains(0));
}

TEST_F(CudaFirstMemory, TheDriverIsReplaced) {
    fake_cuda::delay(first_of_pool, 50);
    Ints a(10);
    allocate(a);
    EXPECT_EQ(0, start());
    EXPECT_EQ(1, fake_cuda::calls("cuMemFreeAsync")) << "it is waited for";
    EXPECT_EQ((Calls{{"cuMemFree", 1}}), memory_calls([&] { free(a); })) << "its record is lost";
}

/// Who has the driver's pool destroyed does not see what others begin meanwhile.
TEST_F(CudaFirstMemory, APoolIsBegunWhileTheOneBeforeIsDestroyed) {
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(primary_context(), nullptr);
    Ints a(10), b(10), c(10);
    make_pools_beside(false);
    allocate(a, &on);
    free(a, &on);
    EXPECT_EQ(1, fake_cuda::live_pools());
    make_pools_beside(true);
    Gate gate("cuMemPoolCreate");
    fake_cuda::before("cuMemPoolDestroy", [&] {
        std::thread([&] { allocate(b, &on); }).join();
        gate.await_arrival();
    });
    calotype_device_release(&on, cuda());
    fake_cuda::before("cuMemPoolDestroy", nullptr);
    EXPECT_EQ(2, fake_cuda::primary_retains(0)) << "the application's and the thread's";
    allocate(c, &on);
    EXPECT_EQ(2, fake_cuda::primary_retains(0)) << "which is at work";
    gate.open();
    await_thread();
    EXPECT_EQ(2, fake_cuda::calls("cuMemPoolCreate"));
    EXPECT_EQ(1, fake_cuda::live_pools());
    free(b, &on);
    free(c, &on);
    calotype_device_release(&on, cuda());
    EXPECT_EQ(0, cuDevicePrimaryCtxRelease_v2(0));
}

TEST_F(CudaFirstMemory, AShutdownSaysWhatItWaitedFor) {
    Gate gate(first_of_pool);
    Ints a(10);
    allocate(a);
    gate.await_arrival();
    EXPECT_EQ(CALOTYPE_E_TIMEOUT, calotype_shutdown(0));
    EXPECT_STREQ("the memory pool of a device is still being made", calotype_last_error()->log);
    gate.open();
    EXPECT_EQ(CALOTYPE_OK, calotype_shutdown(10000));
    EXPECT_EQ(1, fake_cuda::live_pools());
    free(a);
}

/// Each call of the driver fails once: there is an error or nothing was lost, and nothing is left.
TEST_F(CudaFirstMemory, EveryCallFails) {
    const char *const names[] = {"cuDevicePrimaryCtxGetState",
                                 "cuDevicePrimaryCtxRetain",
                                 "cuCtxPushCurrent",
                                 "cuMemPoolCreate",
                                 "cuMemPoolSetAttribute",
                                 "cuMemAllocFromPoolAsync",
                                 "cuMemFreeAsync",
                                 "cuMemAlloc",
                                 "cuStreamGetId",
                                 "cuMemPoolDestroy"};
    for (const char *name : names) {
        for (int nth = 1; nth <= 3; nth++) {
            SCOPED_TRACE(std::string(name) + " " + std::to_string(nth));
            start();
            fake_cuda::fail(name, 999, nth);
            Ints a(10), b(20);
            int failures = calotype_device_malloc(nullptr, &a.buf, cuda()) != 0;
            await_thread();
            failures += calotype_device_malloc(nullptr, &b.buf, cuda()) != 0;
            EXPECT_EQ(size_t(failures), errors.count());
            EXPECT_LE(failures, 1);
            if (failures) {
                EXPECT_NE(std::string::npos, errors.take().find(name));
            }
            fake_cuda::fail(name, 0);
            EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
            EXPECT_EQ(0, calotype_device_free(nullptr, &b.buf));
            calotype_device_release(nullptr, cuda());
            EXPECT_EQ(0, fake_cuda::live_allocations());
            EXPECT_EQ(0, fake_cuda::primary_retains(0));
            EXPECT_EQ(0, fake_cuda::current_depth());
        }
    }
}

// ---- processes that end meanwhile ------------------------------------------------------------

/// What waitpid() says of a child that does f.
template<typename F>
int status_of_child(F f) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        _exit(f() ? 0 : 1);
    }
    int status = -1;
    EXPECT_EQ(child, waitpid(child, &status, 0));
    return status;
}

TEST_F(CudaFirstMemory, AChildDoesNotWaitForAThreadOfItsParent) {
    Gate gate(first_of_pool);
    Ints a(10), b(10);
    allocate(a);
    allocate(b);
    free(b);
    gate.await_arrival();
    EXPECT_EQ(0, status_of_child([&] {
                  const bool good = calotype_device_free(nullptr, &a.buf) == 0;
                  calotype_device_release(nullptr, cuda());
                  return good;
              }));
    free(a);
}

/// Nor for one that is about to be started.
TEST_F(CudaFirstMemory, AChildMakesThePoolThatItsParentHasNotBegunWith) {
    constexpr const char *before_the_start = "cuDevicePrimaryCtxGetState";
    Ints a(10), b(10);
    Gate gate(before_the_start);
    std::thread thread([&] { allocate(a); });
    gate.await_arrival();
    EXPECT_EQ(0, status_of_child([&] {
                  fake_cuda::before(before_the_start, nullptr);
                  const bool good = calotype_device_malloc(nullptr, &b.buf, cuda()) == 0;
                  await_thread();
                  const bool has_pool = fake_cuda::live_pools() == 1;
                  calotype_device_release(nullptr, cuda());
                  return good && has_pool;
              }));
    gate.open();
    thread.join();
    free(a);
}

/// Ends the process while the pool is made.
TEST_F(CudaFirstMemory, OneProcess) {
    if (!calotype_test::is_process_of_test()) {
        GTEST_SKIP() << "started by the test below in a process of its own";
    }
    // After the runtime's own handler, which is installed later.
    std::atexit([] {
        calotype_test::process_report()
            << fake_cuda::calls("cuMemFreeAsync") << " " << fake_cuda::primary_retains(0);
    });
    fake_cuda::delay(first_of_pool, 50);
    Ints &a = *new Ints(10);
    allocate(a);
    std::exit(0);
}

TEST_F(CudaFirstMemory, AnExitWaitsForTheThread) {
    calotype_test::Processes processes;
    EXPECT_EQ("1 1", processes.run("CudaFirstMemory.OneProcess"));
}

/// test/leaks.txt names it: what a runtime keeps for good stays when its library goes.
void run_library_and_close_it() {
    void *plugin = dlopen(CUDA_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(nullptr, plugin) << dlerror();
    const auto run = reinterpret_cast<int (*)(const char *)>(dlsym(plugin, "plugin_run"));
    EXPECT_EQ(0, run(CALOTYPE_FAKE_CUDA));
    EXPECT_EQ(0, dlclose(plugin));
    EXPECT_EQ(nullptr, dlopen(CUDA_PLUGIN, RTLD_NOW | RTLD_NOLOAD));
}

TEST_F(CudaFirstMemory, ALibraryThatIsClosedWaitsForTheThread) {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "here handlers of atexit() do not run when their library is closed";
#endif
    fake_cuda::delay(first_of_pool, 50);
    run_library_and_close_it();
    EXPECT_EQ(1, fake_cuda::calls("cuMemFreeAsync"));
    EXPECT_EQ(1, fake_cuda::live_allocations());
    fake_cuda::reset();
}

}  // namespace
