// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Graphs that an application captures: the modules of what it launched stay while they live.
#include "harness/cache_stats.h"
#include "harness/nothing_module.h"
#include "runtime/cuda/fixture.h"

#include <thread>

#include <unistd.h>

#include "runtime/abi/kernel_cache.h"
#include "runtime/abi/symbols.h"

extern "C" int cuCtxSynchronize();

namespace {

using calotype_test::cache_stats;

class CudaCaptures : public calotype_test::FakeCuda {
protected:
    calotype_test::NothingModule module, other;
    void *context = make_context(), *stream = make_stream(context);
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, stream);

    CudaCaptures() {
        setenv("CT_NVJITLINK", "off", 1);
        other.desc.uid.b[1] = 1;
        calotype_reset_stats();
        EXPECT_EQ(0, module.call(&on));
    }
    ~CudaCaptures() override {
        unsetenv("CT_NVJITLINK");
    }
    void end() {
        EXPECT_EQ(CALOTYPE_OK, calotype_release_context(&on, CALOTYPE_REL_BUSY, 0));
        calotype_device_release(&on, cuda());
        EXPECT_EQ(0, cuCtxDestroy_v2(context));
        EXPECT_EQ(0, fake_cuda::live_modules());
    }
    void begin_capture() const {
        ASSERT_EQ(0, cuStreamBeginCapture_v2(stream, 0));
    }
    void *end_capture() const {
        void *graph = nullptr;
        EXPECT_EQ(0, cuStreamEndCapture(stream, &graph));
        return graph;
    }
    /// Of so many calls of the module.
    void *capture(int calls = 1) {
        begin_capture();
        for (int i = 0; i < calls; i++) {
            EXPECT_EQ(0, module.call(&on));
        }
        return end_capture();
    }
    calotype_status evict() {
        return calotype_evict(&on, &module.desc, 0);
    }
};

TEST_F(CudaCaptures, AModuleStaysWhileTheGraphOrAnInstanceLives) {
    void *graph = capture(), *exec = nullptr;
    EXPECT_EQ(1u, cache_stats().holds);
    EXPECT_EQ(CALOTYPE_E_BUSY, evict());
    ASSERT_EQ(0, cuGraphInstantiateWithFlags(&exec, graph, 0));
    EXPECT_EQ(0, cuGraphDestroy(graph));
    EXPECT_EQ(CALOTYPE_E_BUSY, evict());
    EXPECT_EQ(0, cuGraphLaunch(exec, stream));
    EXPECT_EQ(0, cuGraphExecDestroy(exec));
    EXPECT_EQ(CALOTYPE_OK, evict());
    EXPECT_EQ(0u, cache_stats().holds);
    EXPECT_EQ(1u, cache_stats().unloads);
    end();
}

/// Whoever unloads must wait for the context, which would break the capture.
TEST_F(CudaCaptures, NothingIsUnloadedBesideACapture) {
    calotype_device_context elsewhere = CALOTYPE_DEVICE_CONTEXT(context, make_stream(context));
    EXPECT_EQ(0, other.call(&on));
    const calotype_limits one = {sizeof one, CALOTYPE_POLICY_LRU, 0, 1, 0, 0};
    begin_capture();
    EXPECT_EQ(CALOTYPE_OK, calotype_set_limits(&one));
    EXPECT_EQ(CALOTYPE_E_CAPTURE, calotype_evict(&elsewhere, &module.desc, 0));
    EXPECT_EQ(CALOTYPE_E_CAPTURE, calotype_trim(&elsewhere, 0, nullptr));
    EXPECT_EQ(CALOTYPE_E_CAPTURE, calotype_release_context(&elsewhere, CALOTYPE_REL_FORCE, 0));
    EXPECT_EQ(CALOTYPE_E_CAPTURE, calotype_shutdown(100));
    EXPECT_EQ(0, other.call(&elsewhere));
    EXPECT_EQ(0u, cache_stats().unloads);
    void *graph = end_capture();
    EXPECT_EQ(0, cuGraphDestroy(graph));
    EXPECT_EQ(0, other.call(&elsewhere));
    EXPECT_EQ(1u, cache_stats().unloads);
    const calotype_limits none = {sizeof none, CALOTYPE_POLICY_LRU, 0, 0, 0, 0};
    EXPECT_EQ(CALOTYPE_OK, calotype_set_limits(&none));
    end();
}

/// CUDA does not tell of captures in non-blocking streams, so only calls that name the context may
/// wait for it.
TEST_F(CudaCaptures, LimitsThatAreSetLeaveContextsAlone) {
    on.stream = stream = make_stream(context, 1);
    EXPECT_EQ(0, module.call(&on));
    EXPECT_EQ(0, other.call(&on));
    begin_capture();
    EXPECT_EQ(0, other.call(&on));
    const calotype_limits one = {sizeof one, CALOTYPE_POLICY_LRU, 0, 1, 0, 0};
    EXPECT_EQ(Calls(), calls_of({"cuCtxSynchronize", "cuCtxRecordEvent", "cuCtxPushCurrent"},
                                [&] { EXPECT_EQ(CALOTYPE_OK, calotype_set_limits(&one)); }));
    void *graph = end_capture();
    EXPECT_EQ(2u, cache_stats().live_modules);
    EXPECT_EQ(0, cuGraphDestroy(graph));
    EXPECT_EQ(0, other.call(&on));
    EXPECT_EQ(1u, cache_stats().live_modules) << "the next call in the context keeps the limit";
    const calotype_limits none = {sizeof none, CALOTYPE_POLICY_LRU, 0, 0, 0, 0};
    EXPECT_EQ(CALOTYPE_OK, calotype_set_limits(&none));
    end();
}

/// Buffers that nothing refers to any more go when it suits them, as in a language that collects
/// garbage, and name no stream: a capture in which kernels were launched is left alone.
TEST_F(CudaCaptures, WhatIsFreedWithoutAStreamBesideOneThatIsHiddenWaits) {
    on.stream = stream = make_stream(context, 1);
    calotype_device_context without_stream = CALOTYPE_DEVICE_CONTEXT(context, nullptr);
    calotype_test::Ints dropped(64), later(64);
    ASSERT_EQ(0, calotype_device_malloc(&on, &dropped.buf, cuda()));
    EXPECT_EQ(0, module.call(&on));
    begin_capture();
    EXPECT_EQ(0, module.call(&on));
    EXPECT_EQ(0, calotype_device_free(&without_stream, &dropped.buf));
    EXPECT_EQ(0, module.call(&on));
    EXPECT_EQ(1, fake_cuda::live_allocations());
    EXPECT_EQ(0, cuGraphDestroy(end_capture()));
    ASSERT_EQ(0, calotype_device_malloc(&on, &later.buf, cuda()));
    EXPECT_EQ(1, fake_cuda::live_allocations()) << "the next call for memory frees it";
    EXPECT_EQ(0, calotype_device_free(&without_stream, &later.buf));
    EXPECT_EQ(0, fake_cuda::live_allocations());
    end();
}

/// By a call of the application that a capture does not allow, between two of the runtime's.
TEST_F(CudaCaptures, ACaptureThatOthersBreakIsCalledBroken) {
    begin_capture();
    int asked = 0;
    fake_cuda::before("cuStreamGetCaptureInfo", [&] {
        if (++asked == 2) {
            void *popped = nullptr;
            EXPECT_EQ(0, cuCtxPushCurrent_v2(context));
            EXPECT_NE(0, cuCtxSynchronize());
            EXPECT_EQ(0, cuCtxPopCurrent_v2(&popped));
        }
    });
    EXPECT_NE(0, module.call(&on));
    fake_cuda::before("cuStreamGetCaptureInfo", nullptr);
    const std::string error = errors.take();
    EXPECT_NE(std::string::npos,
              error.find("cuStreamGetCaptureInfo: CUDA_ERROR_STREAM_CAPTURE_INVALIDATED (901)"))
        << error;
    void *graph = nullptr;
    EXPECT_NE(0, cuStreamEndCapture(stream, &graph));
    EXPECT_EQ(CALOTYPE_OK, evict());
    end();
}

TEST_F(CudaCaptures, OncePerModuleAndCapture) {
    EXPECT_EQ(0, other.call(&on));
    begin_capture();
    for (int i = 0; i < 10; i++) {
        EXPECT_EQ(0, module.call(&on));
        EXPECT_EQ(0, other.call(&on));
    }
    void *first = end_capture();
    EXPECT_EQ(2, fake_cuda::calls("cuGraphRetainUserObject"));
    EXPECT_EQ(2u, cache_stats().holds);
    void *second = capture(3);
    EXPECT_EQ(3, fake_cuda::calls("cuGraphRetainUserObject"));
    EXPECT_EQ(0, cuGraphDestroy(first));
    EXPECT_EQ(CALOTYPE_E_BUSY, evict());
    EXPECT_EQ(CALOTYPE_OK, calotype_evict(&on, &other.desc, 0));
    EXPECT_EQ(0, cuGraphDestroy(second));
    EXPECT_EQ(CALOTYPE_OK, evict());
    end();
}

TEST_F(CudaCaptures, AWarmCallOutsideACaptureHoldsNothing) {
    EXPECT_EQ((Calls{{"cuStreamIsCapturing", 1}}),
              calls_of({"cuStreamIsCapturing", "cuStreamGetCaptureInfo", "cuUserObjectCreate"},
                       [&] { EXPECT_EQ(0, module.call(&on)); }));
    EXPECT_EQ(0u, cache_stats().holds);
    end();
}

TEST_F(CudaCaptures, ACaptureThatBreaksHoldsNothing) {
    begin_capture();
    EXPECT_EQ(0, module.call(&on));
    EXPECT_EQ(1u, cache_stats().holds);
    EXPECT_EQ(0, cuCtxPushCurrent_v2(context));
    void *graph = nullptr, *popped = nullptr;
    uint64_t memory = 0;
    EXPECT_NE(0, cuMemAlloc_v2(&memory, 4)) << "not in a capture";
    EXPECT_EQ(0, cuCtxPopCurrent_v2(&popped));
    EXPECT_NE(0, cuStreamEndCapture(stream, &graph));
    EXPECT_EQ(CALOTYPE_OK, evict());
    end();
}

TEST_F(CudaCaptures, LimitsAreExceededUntilTheGraphHasGone) {
    calotype_limits limits = {sizeof limits, CALOTYPE_POLICY_LRU, 0, 1, 0, 0};
    EXPECT_EQ(CALOTYPE_OK, calotype_set_limits(&limits));
    void *graph = capture();
    EXPECT_EQ(0, other.call(&on));
    EXPECT_EQ(1u, cache_stats().live_modules) << "the idle one went, not that of the graph";
    EXPECT_EQ(0, module.call(&on));
    EXPECT_EQ(2u, cache_stats().loads);
    EXPECT_EQ(0, cuGraphDestroy(graph));
    EXPECT_EQ(0, other.call(&on));
    EXPECT_EQ(CALOTYPE_OK, calotype_evict(&on, &other.desc, 0));
    EXPECT_EQ(0u, cache_stats().live_modules);
    limits.ctx_modules = 0;
    EXPECT_EQ(CALOTYPE_OK, calotype_set_limits(&limits));
    end();
}

TEST_F(CudaCaptures, AReleaseWaitsOrIsRefusedOrForced) {
    void *graph = capture();
    EXPECT_EQ(CALOTYPE_E_BUSY, calotype_release_context(&on, CALOTYPE_REL_BUSY, 0));
    EXPECT_STREQ("a module of the context is held", calotype_last_error()->log);
    EXPECT_EQ(CALOTYPE_E_TIMEOUT, calotype_release_context(&on, CALOTYPE_REL_WAIT, 10));
    const auto later = [](void *graph) {
        return std::thread([=] {
            usleep(5000);
            EXPECT_EQ(0, cuGraphDestroy(graph));
        });
    };
    std::thread destroys = later(graph);
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(&on, CALOTYPE_REL_WAIT, 10000));
    destroys.join();
    EXPECT_EQ(0, module.call(&on));
    // One that goes at the same time is waited for, since the driver tells of it a little later.
    calotype_status released = CALOTYPE_E_BUSY;
    for (int tries = 0; released == CALOTYPE_E_BUSY && tries < 100; tries++) {  // on a busy machine
        destroys = later(capture());
        released = calotype_release_context(&on, CALOTYPE_REL_BUSY, 0);
        destroys.join();
    }
    EXPECT_EQ(CALOTYPE_OK, released);
    EXPECT_EQ(0, module.call(&on));
    graph = capture();
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(&on, CALOTYPE_REL_FORCE, 0));
    EXPECT_EQ(0u, cache_stats().live_modules);
    EXPECT_EQ(0, cuGraphDestroy(graph)) << "which the cache has forgotten";
    EXPECT_EQ(0, module.call(&on));
    EXPECT_EQ(0u, cache_stats().holds);
    end();
}

TEST_F(CudaCaptures, AfterARefusalTheSameCaptureTriesAgain) {
    begin_capture();
    fake_cuda::fail("cuUserObjectCreate", 2, 1);
    EXPECT_NE(0, module.call(&on));
    errors.take();
    EXPECT_EQ(0, module.call(&on));
    void *graph = end_capture();
    EXPECT_EQ(CALOTYPE_E_BUSY, evict()) << "the graph has a node of it";
    EXPECT_EQ(0, cuGraphDestroy(graph));
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(&on, CALOTYPE_REL_WAIT, 10000));
    end();
}

TEST_F(CudaCaptures, AReleaseThatACaptureRefusesLeavesThem) {
    calotype_device_context elsewhere = CALOTYPE_DEVICE_CONTEXT(context, make_stream(context));
    begin_capture();
    EXPECT_EQ(0, module.call(&on));
    EXPECT_EQ(CALOTYPE_E_CAPTURE, calotype_release_context(&elsewhere, CALOTYPE_REL_FORCE, 0));
    EXPECT_EQ(0, module.call(&on));
    void *graph = end_capture();
    EXPECT_EQ(CALOTYPE_E_BUSY, evict());
    EXPECT_EQ(0, cuGraphDestroy(graph));
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(&on, CALOTYPE_REL_WAIT, 10000));
    EXPECT_EQ(0, cuStreamDestroy_v2(elsewhere.stream));
    end();
}

TEST_F(CudaCaptures, AContextThatIsLostEndsThem) {
    capture();
    uint64_t uid = 0;
    EXPECT_EQ(CALOTYPE_OK, calotype_context_uid(&on, cuda(), &uid));
    EXPECT_EQ(0, cuCtxDestroy_v2(context));
    EXPECT_EQ(CALOTYPE_OK, calotype_context_lost(uid));
    EXPECT_EQ(0u, cache_stats().holds);
    EXPECT_EQ(0u, cache_stats().live_modules);
}

TEST_F(CudaCaptures, WhatTheDriverRefusesIsAnErrorAndHoldsNothing) {
    for (const char *call :
         {"cuStreamGetCaptureInfo", "cuUserObjectCreate", "cuGraphRetainUserObject"}) {
        begin_capture();
        // Of the first one, the second call: the first asks which capture it is.
        fake_cuda::fail(call, 2, std::string(call) == "cuStreamGetCaptureInfo" ? 2 : 1);
        EXPECT_NE(0, module.call(&on));
        EXPECT_EQ("device code of nothing: launching failed: out of memory: kernel nothing, grid 1 "
                  "x 1 x 1, block 1 x 1 x 1, 0 bytes of dynamic shared memory: fake device 0 "
                  "(sm_90), driver 13.0: " +
                      std::string(call) + ": CUDA_ERROR_OUT_OF_MEMORY (2), out of memory",
                  errors.take());
        void *graph = end_capture();
        EXPECT_EQ(CALOTYPE_OK, evict());
        EXPECT_EQ(0, cuGraphDestroy(graph));
        EXPECT_EQ(0, module.call(&on));
    }
    end();
}

/// Without them there is nothing that could tell when a graph goes; a pin is the application's.
TEST_F(CudaCaptures, DriversThatCannotTell) {
    static const char *hidden;
    end();
    for (const char *function : {"cuStreamGetCaptureInfo_v2", "cuUserObjectCreate",
                                 "cuUserObjectRelease", "cuGraphRetainUserObject"}) {
        hidden = function;
        const auto old = calotype_set_custom_get_library_symbol([](void *lib, const char *name) {
            return std::string(name) == hidden ? nullptr
                                               : calotype_default_get_library_symbol(lib, name);
        });
        EXPECT_EQ(0, start());
        calotype_set_custom_get_library_symbol(old);
        context = make_context();
        on = CALOTYPE_DEVICE_CONTEXT(context, stream = make_stream(context));
        EXPECT_EQ(0, module.call(&on));
        calotype_hold hold, pin;
        begin_capture();
        EXPECT_EQ(CALOTYPE_OK, calotype_initialize_kernels(&on, &module.desc, nullptr, &hold));
        EXPECT_EQ(CALOTYPE_OK, calotype_pin(hold, &pin));
        EXPECT_EQ(0, module.call(&on));
        EXPECT_EQ(CALOTYPE_OK, calotype_finalize_kernels(&on, &hold));
        void *graph = end_capture();
        EXPECT_EQ(1u, cache_stats().holds) << function;
        EXPECT_EQ(CALOTYPE_E_BUSY, evict());
        EXPECT_EQ(0, cuGraphDestroy(graph));
        EXPECT_EQ(CALOTYPE_OK, calotype_unpin(&pin));
        EXPECT_EQ(CALOTYPE_OK, evict());
        end();
    }
}

/// CUDA does not tell of captures in non-blocking streams. A forced release beside one ends its
/// holds, and what comes to be in the place of the module is held for the graph as any other.
TEST_F(CudaCaptures, AForcedReleaseBesideACaptureThatTheDriverHides) {
    using IsCapturing = int (*)(void *, int *);
    static IsCapturing is_capturing;
    end();
    const auto old = calotype_set_custom_get_library_symbol([](void *lib, const char *name) {
        void *found = calotype_default_get_library_symbol(lib, name);
        if (std::string(name) == "cuStreamIsCapturing") {
            is_capturing = reinterpret_cast<IsCapturing>(found);
            const IsCapturing hides = [](void *asked, int *status) {
                *status = 0;
                return asked ? is_capturing(asked, status) : 0;
            };
            return reinterpret_cast<void *>(hides);
        }
        const auto succeeds = []() {
            return 0;
        };
        return std::string(name) == "cuCtxSynchronize" ? reinterpret_cast<void *>(+succeeds)
                                                       : found;
    });
    EXPECT_EQ(0, start());
    calotype_set_custom_get_library_symbol(old);
    context = make_context();
    on = CALOTYPE_DEVICE_CONTEXT(context, stream = make_stream(context));
    calotype_device_context elsewhere = CALOTYPE_DEVICE_CONTEXT(context, make_stream(context));
    EXPECT_EQ(0, module.call(&on));
    begin_capture();
    EXPECT_EQ(0, module.call(&on));
    EXPECT_EQ(1u, cache_stats().holds);
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(&elsewhere, CALOTYPE_REL_FORCE, 0));
    EXPECT_EQ(0u, cache_stats().holds);
    EXPECT_EQ(0u, cache_stats().live_modules);
    EXPECT_NE(0, module.call(&on)) << "cold, in a capture";
    errors.take();
    EXPECT_EQ(0, other.call(&elsewhere));
    EXPECT_EQ(0, other.call(&on));
    EXPECT_EQ(1u, cache_stats().holds);
    EXPECT_EQ(CALOTYPE_E_BUSY, calotype_evict(&elsewhere, &other.desc, 0));
    void *graph = end_capture();
    EXPECT_EQ(0, cuGraphDestroy(graph));
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(&on, CALOTYPE_REL_WAIT, 10000));
    EXPECT_EQ(0u, cache_stats().holds);
    EXPECT_EQ(0, cuStreamDestroy_v2(elsewhere.stream));
    end();
}

TEST_F(CudaCaptures, ManyThreads) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; t++) {
        void *mine = make_stream(context);
        threads.emplace_back([=, this] {
            calotype_device_context here = CALOTYPE_DEVICE_CONTEXT(context, mine);
            for (int i = 0; i < 50; i++) {
                void *graph = nullptr;
                ASSERT_EQ(0, cuStreamBeginCapture_v2(mine, 0));
                const int code = module.call(&here);
                ASSERT_EQ(0, cuStreamEndCapture(mine, &graph));
                ASSERT_EQ(0, code);
                ASSERT_EQ(0, cuGraphDestroy(graph));
                ASSERT_EQ(0, module.call(&here));
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    EXPECT_EQ(400, fake_cuda::calls("cuGraphRetainUserObject"));
    EXPECT_EQ(CALOTYPE_OK, calotype_trim(&on, 0, nullptr));
    EXPECT_EQ(0u, cache_stats().holds);
    end();
}

}  // namespace
