// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recordings: what the driver is asked for, call by call, and that what comes out is the same.
#include "harness/cache_stats.h"
#include "harness/module_desc.h"
#include "harness/nothing_module.h"
#include "runtime/cuda/fixture.h"

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include "runtime/abi/kernel_cache.h"
#include "runtime/abi/recording.h"
#include "runtime/abi/symbols.h"

namespace {

using calotype_test::cache_stats;
using calotype_test::FakeCuda;

const char ptx[] = R"(.version 6.0
.target sm_50
.address_size 64
.visible .entry add(.param .u64 to, .param .u32 v) { ret; }
.visible .entry mul(.param .u64 to, .param .u32 v) { ret; }
)";

/// A module of two kernels: to[0] += v * number of blocks, to[0] *= v.
struct Arithmetic {
    calotype_image image = {CALOTYPE_PTX, 50, 0, ptx, sizeof ptx - 1};
    calotype_kernel_arg args[2] = {{1, 8, 0, 1}, {0, 4, 0, 0}};
    calotype_kernel_desc kernels[2] = {{"add", args, 2, 0, 0, 0}, {"mul", args, 2, 64, 0, 0}};
    calotype_module_desc desc =
        calotype_test::module_desc("arithmetic", calotype_cuda_device_interface, image, kernels, 2);
};

template<typename T>
T value_of(const calotype_test::FakeLaunch &launch, int i) {
    T value;
    memcpy(&value, launch.args[i].value, sizeof value);
    return value;
}

void add(const calotype_test::FakeLaunch &launch) {
    *static_cast<uint32_t *>(launch.args[0].memory) +=
        value_of<uint32_t>(launch, 1) * launch.grid[0];
}
void mul(const calotype_test::FakeLaunch &launch) {
    *static_cast<uint32_t *>(launch.args[0].memory) *= value_of<uint32_t>(launch, 1);
}

/// One launch of a recording.
struct Step {
    uint32_t kernel, value;
    int32_t blocks = 1;
};

class CudaGraphs : public FakeCuda {
protected:
    Arithmetic module;
    std::vector<calotype_test::Ints *> buffers;

    CudaGraphs() {
        setenv("CT_NVJITLINK", "off", 1);
        fake_cuda::define_kernel("add", add);
        fake_cuda::define_kernel("mul", mul);
        calotype_reset_stats();
    }
    ~CudaGraphs() override {
        calotype_device_release(nullptr, cuda());
        EXPECT_EQ(0, fake_cuda::live_graphs());
        unsetenv("CT_NVJITLINK");
    }

    /// Two of (add 3, mul 5).
    static std::vector<Step> two(uint32_t a = 3, uint32_t m = 5, int32_t blocks = 1) {
        return {{0, a, blocks}, {1, m, blocks}};
    }
    /// What generated code does: the first error code.
    int record(void *on, const std::vector<Step> &steps, calotype_buffer_t *to) {
        calotype_hold hold;
        int code = calotype_begin_kernels(on, &module.desc, &hold);
        calotype_recording recording;
        EXPECT_EQ(0, calotype_begin_recording(on, &hold, &recording));
        for (size_t i = 0; i < steps.size() && code == 0; i++) {
            code = record_one(on, &recording, steps[i], to->device);
        }
        code = code ? code : calotype_launch_recording(on, &recording);
        calotype_end_recording(on, &recording);
        calotype_end_kernels(on, &hold);
        return code;
    }
    static int record_one(void *on, calotype_recording *recording, const Step &step, uint64_t to) {
        uint32_t value = step.value;
        void *args[] = {&to, &value};
        const int32_t shape[7] = {step.blocks, 1, 1, 1, 1, 1, 0};
        return calotype_record_kernel(on, recording, step.kernel, shape, args);
    }
    static uint32_t expected(uint32_t from, const std::vector<Step> &steps) {
        for (const Step &step : steps) {
            from = step.kernel ? from * step.value : from + step.value * uint32_t(step.blocks);
        }
        return from;
    }
    /// The same with its result checked, and the calls of the driver that it makes.
    Calls run(void *on, const std::vector<Step> &steps, calotype_buffer_t *to) {
        const uint32_t before = *reinterpret_cast<uint32_t *>(to->device);
        const Calls made = calls_of([&] { EXPECT_EQ(0, record(on, steps, to)); });
        EXPECT_EQ(expected(before, steps), *reinterpret_cast<uint32_t *>(to->device));
        return made;
    }
    template<typename F>
    static Calls calls_of(F f) {
        return FakeCuda::calls_of({"cuLaunchKernel", "cuGraphCreate", "cuGraphAddKernelNode",
                                   "cuGraphInstantiateWithFlags", "cuGraphExecKernelNodeSetParams",
                                   "cuGraphLaunch", "cuGraphExecDestroy", "cuGraphDestroy",
                                   "cuMemAllocFromPoolAsync", "cuMemFreeAsync",
                                   "cuStreamSynchronize"},
                                  f);
    }
    static Calls plain(long n) {
        return {{"cuLaunchKernel", n}};
    }
    static Calls making(long n) {
        return {{"cuGraphCreate", 1},
                {"cuGraphAddKernelNode", n},
                {"cuGraphInstantiateWithFlags", 1},
                {"cuGraphLaunch", 1}};
    }
    static Calls updating(long n) {
        return n ? Calls{{"cuGraphExecKernelNodeSetParams", n}, {"cuGraphLaunch", 1}}
                 : Calls{{"cuGraphLaunch", 1}};
    }
    /// Graphs, launches of them, updates.
    static std::array<uint64_t, 3> stats() {
        const calotype_stats s = cache_stats();
        return {s.graphs, s.graph_launches, s.graph_updates};
    }
};

/// Four bytes on the device.
struct Word {
    calotype_test::Ints ints{1};
    void *on;
    explicit Word(void *on = nullptr) : on(on) {
        EXPECT_EQ(0, calotype_device_malloc(on, &ints.buf, calotype_cuda_device_interface()));
        *ints.on_device() = 1;
    }
    ~Word() {
        EXPECT_EQ(0, calotype_device_free(on, &ints.buf));
    }
    calotype_buffer_t *buf() {
        return &ints.buf;
    }
};

TEST_F(CudaGraphs, TheSecondCallMakesAGraphAndLaterOnesUpdateIt) {
    Word w, other;
    EXPECT_EQ(plain(2), run(nullptr, two(), w.buf()));
    EXPECT_EQ(making(2), run(nullptr, two(), w.buf()));
    EXPECT_EQ(updating(0), run(nullptr, two(), w.buf()));
    EXPECT_EQ(updating(1), run(nullptr, two(4, 5), w.buf())) << "a scalar of one kernel";
    EXPECT_EQ(updating(2), run(nullptr, two(4, 5), other.buf())) << "a pointer of both";
    EXPECT_EQ(updating(0), run(nullptr, two(4, 5), other.buf()));
    EXPECT_EQ((std::array<uint64_t, 3>{1, 5, 3}), stats());
}

TEST_F(CudaGraphs, EachShapeThatComesAgainHasItsGraph) {
    Word w;
    run(nullptr, two(), w.buf());
    run(nullptr, two(), w.buf());
    EXPECT_EQ(updating(2), run(nullptr, two(3, 5, 7), w.buf())) << "that of the other shape";
    EXPECT_EQ(updating(0), run(nullptr, two(3, 5, 7), w.buf()));
    EXPECT_EQ(making(2), run(nullptr, two(), w.buf())) << "it comes again, so it gets its own";
    for (int i = 0; i < 10; i++) {
        EXPECT_EQ(updating(0), run(nullptr, two(3, 5, i % 2 ? 7 : 1), w.buf()));
    }
}

TEST_F(CudaGraphs, ShapesThatNeverComeAgainShareOneGraph) {
    Word w;
    EXPECT_EQ(plain(2), run(nullptr, two(3, 5, 1), w.buf()));
    EXPECT_EQ(making(2), run(nullptr, two(3, 5, 2), w.buf()));
    for (int blocks = 3; blocks < 200; blocks++) {
        EXPECT_EQ(updating(2), run(nullptr, two(3, 5, blocks), w.buf()));
    }
    EXPECT_EQ(1u, stats()[0]);
}

TEST_F(CudaGraphs, OtherKernelsAreAnotherGraph) {
    Word w;
    const std::vector<Step> three = {{1, 2}, {0, 9}, {1, 3}};
    EXPECT_EQ(plain(2), run(nullptr, two(), w.buf()));
    EXPECT_EQ(plain(3), run(nullptr, three, w.buf()));
    EXPECT_EQ(making(2), run(nullptr, two(), w.buf()));
    EXPECT_EQ(making(3), run(nullptr, three, w.buf()));
    EXPECT_EQ(updating(0), run(nullptr, two(), w.buf()));
    EXPECT_EQ(updating(1), run(nullptr, {{1, 2}, {0, 8}, {1, 3}}, w.buf()));
}

TEST_F(CudaGraphs, SixteenGraphsAModuleAndThoseLongUnusedGo) {
    Word w;
    const auto of_length = [](size_t n) {
        return std::vector<Step>(n, Step{0, 1});
    };
    for (int round = 0; round < 2; round++) {
        for (size_t n = 2; n < 18; n++) {
            run(nullptr, of_length(n), w.buf());
        }
    }
    EXPECT_EQ(16u, stats()[0]);
    // There is no room for one more as long as the others are used now and then.
    for (int i = 0; i < 100; i++) {
        EXPECT_EQ(plain(20), run(nullptr, of_length(20), w.buf()));
        for (size_t n = 2; n < 18; n++) {
            EXPECT_EQ(updating(0), run(nullptr, of_length(n), w.buf()));
        }
    }
    int calls = 0;
    while (stats()[0] == 16) {
        run(nullptr, of_length(20), w.buf());
        ASSERT_GT(100, ++calls);
    }
    EXPECT_EQ(65, calls) << "64 searches after the others were used last";
    EXPECT_EQ(16 * 2, fake_cuda::live_graphs());
}

TEST_F(CudaGraphs, KernelsMayHaveNoArguments) {
    const calotype_test::NothingModule nothing;
    module.desc = nothing.desc;
    Word w;
    const auto calls = [&](int32_t blocks) {
        return calls_of([&] { EXPECT_EQ(0, record(nullptr, {{0, 0, blocks}, {0, 0}}, w.buf())); });
    };
    EXPECT_EQ(plain(2), calls(1));
    EXPECT_EQ(making(2), calls(1));
    EXPECT_EQ(updating(0), calls(1));
    EXPECT_EQ(updating(1), calls(2));
}

TEST_F(CudaGraphs, OneKernelIsLaunched) {
    Word w;
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(plain(1), run(nullptr, {{0, 2}}, w.buf()));
    }
    EXPECT_EQ(Calls(), run(nullptr, {}, w.buf()));
    EXPECT_EQ(Calls(), run(nullptr, {{0, 2, 0}}, w.buf())) << "no blocks";
}

TEST_F(CudaGraphs, ManyLaunchesAreSeveralGraphs) {
    Word w;
    const std::vector<Step> many(2500, Step{0, 1});
    EXPECT_EQ(plain(1024), run(nullptr, std::vector<Step>(1024, Step{0, 1}), w.buf()));
    EXPECT_EQ((Calls{{"cuGraphCreate", 1},
                     {"cuGraphAddKernelNode", 1024},
                     {"cuGraphInstantiateWithFlags", 1},
                     {"cuGraphLaunch", 2},
                     {"cuLaunchKernel", 2500 - 2048}}),
              run(nullptr, many, w.buf()));
}

TEST_F(CudaGraphs, WhatTheDriverRefusesIsLaunchedOneByOne) {
    const struct {
        const char *call;
        int calls_before;
        uint32_t value;
    } cases[] = {{"cuGraphCreate", 1, 3},
                 {"cuGraphAddKernelNode", 1, 3},
                 {"cuGraphInstantiateWithFlags", 1, 3},
                 {"cuGraphLaunch", 1, 3},
                 {"cuGraphLaunch", 2, 3},
                 {"cuGraphExecKernelNodeSetParams", 2, 4}};
    for (const auto &c : cases) {
        SCOPED_TRACE(c.call);
        calotype_device_release(nullptr, cuda());
        Word w;
        for (int i = 0; i < c.calls_before; i++) {
            run(nullptr, two(), w.buf());
        }
        fake_cuda::fail(c.call, 2);
        EXPECT_EQ(2, run(nullptr, two(c.value), w.buf())["cuLaunchKernel"]);
        EXPECT_EQ(0, fake_cuda::live_graphs());
        EXPECT_EQ(making(2), run(nullptr, two(), w.buf())) << "the next call tries again";
        EXPECT_EQ(0u, errors.count());
    }
}

TEST_F(CudaGraphs, ADriverThatRefusesAlwaysIsNotAskedForEver) {
    Word w;
    run(nullptr, two(), w.buf());
    fake_cuda::fail("cuGraphInstantiateWithFlags", 801, 1, 1000);
    const long before = fake_cuda::calls("cuGraphInstantiateWithFlags");
    for (int i = 0; i < 20; i++) {
        EXPECT_EQ(2, run(nullptr, two(), w.buf())["cuLaunchKernel"]);
    }
    EXPECT_EQ(before + 8, fake_cuda::calls("cuGraphInstantiateWithFlags"));
}

TEST_F(CudaGraphs, AFailedLaunchNamesTheKernel) {
    Word w;
    const std::vector<Step> steps = {{0, 1}, {1, 2}, {0, 4}};
    run(nullptr, steps, w.buf());
    run(nullptr, steps, w.buf());
    fake_cuda::fail("cuGraphLaunch", 701);
    fake_cuda::fail("cuLaunchKernel", 701, 2);
    EXPECT_NE(0, record(nullptr, steps, w.buf()));
    EXPECT_EQ("device code of arithmetic: launching failed: the kernel cannot be launched: kernel "
              "mul, grid 1 x 1 x 1, block 1 x 1 x 1, 0 bytes of dynamic shared "
              "memory: fake device 0 (sm_90), driver 13.0: cuLaunchKernel: "
              "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701), "
              "too many resources requested for launch",
              errors.take());
}

TEST_F(CudaGraphs, WhatNoDeviceCanRunIsRefusedWhenItIsRecorded) {
    Word w;
    calotype_hold hold;
    ASSERT_EQ(0, calotype_begin_kernels(nullptr, &module.desc, &hold));
    calotype_recording recording;
    ASSERT_EQ(0, calotype_begin_recording(nullptr, &hold, &recording));
    EXPECT_NE(0, record_one(nullptr, &recording, {0, 1, -2}, w.buf()->device));
    EXPECT_EQ("device code of arithmetic: launching failed: the kernel cannot be launched: kernel "
              "add: fake device 0 (sm_90), driver 13.0: grid x is -2, must not be negative",
              errors.take());
    EXPECT_NE(0, record_one(nullptr, &recording, {7, 1}, w.buf()->device));
    EXPECT_EQ("device code of arithmetic: launching failed: invalid argument: kernel number 7, "
              "there are 2",
              errors.take());
    const int32_t large[7] = {1, 1, 1, 65, 1, 1, 0};
    EXPECT_NE(0, calotype_record_kernel(nullptr, &recording, 1, large, nullptr));
    EXPECT_EQ("device code of arithmetic: launching failed: the kernel cannot be launched: kernel "
              "mul, grid 1 x 1 x 1, block 65 x 1 x 1, 0 bytes of dynamic shared "
              "memory: 65 threads a block, the kernel was compiled for at most 64",
              errors.take());
    EXPECT_EQ(0, record_one(nullptr, &recording, {0, 1}, w.buf()->device));
    EXPECT_EQ(Calls(), calls_of([&] { calotype_end_recording(nullptr, &recording); }))
        << "after an error nothing that is pending is launched";
    calotype_end_kernels(nullptr, &hold);
    EXPECT_EQ(1, *w.ints.on_device());
}

/// A chain of intermediate buffers, each freed after the kernel that reads it.
TEST_F(CudaGraphs, MemoryServesAgainInTheOrderOfTheKernels) {
    Word w;
    const auto chain = [&](int n) {
        calotype_hold hold;
        calotype_recording recording;
        EXPECT_EQ(0, calotype_begin_kernels(nullptr, &module.desc, &hold));
        EXPECT_EQ(0, calotype_begin_recording(nullptr, &hold, &recording));
        calotype_test::Ints last(100);
        EXPECT_EQ(0, calotype_record_malloc(nullptr, &recording, &last.buf, cuda()));
        const uint64_t first = last.buf.device;
        for (int i = 0; i < n; i++) {
            calotype_test::Ints next(100);
            next.dim[0].min = 50;  // the address of a buffer is that of its mins
            EXPECT_EQ(0, calotype_record_malloc(nullptr, &recording, &next.buf, cuda()));
            EXPECT_TRUE(i == 1 ? next.buf.device == first : true) << i;
            EXPECT_EQ(0, record_one(nullptr, &recording, {0, 1}, w.buf()->device));
            EXPECT_EQ(0, calotype_record_free(nullptr, &recording, &last.buf));
            EXPECT_EQ(0u, last.buf.device);
            EXPECT_EQ(nullptr, last.buf.device_interface);
            last.buf = next.buf;
        }
        EXPECT_EQ(0, calotype_record_free(nullptr, &recording, &last.buf));
        EXPECT_EQ(0, calotype_launch_recording(nullptr, &recording));
        calotype_end_recording(nullptr, &recording);
        calotype_end_kernels(nullptr, &hold);
    };
    Calls calls = calls_of([&] { chain(51); });
    EXPECT_EQ(51, calls["cuLaunchKernel"]);
    EXPECT_EQ(2, calls["cuMemAllocFromPoolAsync"]);
    EXPECT_EQ(2, calls["cuMemFreeAsync"]);
    chain(51);
    calls = calls_of([&] { chain(51); });
    EXPECT_EQ(1, calls["cuGraphLaunch"]);
    EXPECT_EQ(0, calls["cuLaunchKernel"]);
    EXPECT_EQ(1, fake_cuda::live_allocations());
}

TEST_F(CudaGraphs, FreedMemoryWaitsForTheKernelsThatUseIt) {
    calotype_hold hold;
    calotype_recording recording;
    ASSERT_EQ(0, calotype_begin_kernels(nullptr, &module.desc, &hold));
    ASSERT_EQ(0, calotype_begin_recording(nullptr, &hold, &recording));
    calotype_test::Ints a(1);
    EXPECT_EQ(0, calotype_record_malloc(nullptr, &recording, &a.buf, cuda()));
    EXPECT_EQ(0, record_one(nullptr, &recording, {0, 1}, a.buf.device));
    EXPECT_EQ(Calls(),
              calls_of([&] { EXPECT_EQ(0, calotype_record_free(nullptr, &recording, &a.buf)); }));
    EXPECT_EQ(1, fake_cuda::live_allocations());
    EXPECT_EQ((Calls{{"cuLaunchKernel", 1}, {"cuMemFreeAsync", 1}}),
              calls_of([&] { calotype_launch_recording(nullptr, &recording); }));
    // With nothing pending it is freed at once.
    EXPECT_EQ(0, calotype_record_malloc(nullptr, &recording, &a.buf, cuda()));
    EXPECT_EQ((Calls{{"cuMemFreeAsync", 1}}),
              calls_of([&] { EXPECT_EQ(0, calotype_record_free(nullptr, &recording, &a.buf)); }));
    // After an error what was kept is freed all the same.
    EXPECT_EQ(0, calotype_record_malloc(nullptr, &recording, &a.buf, cuda()));
    EXPECT_EQ(0, record_one(nullptr, &recording, {0, 1}, a.buf.device));
    EXPECT_EQ(0, calotype_record_free(nullptr, &recording, &a.buf));
    calotype_end_recording(nullptr, &recording);
    calotype_end_kernels(nullptr, &hold);
    EXPECT_EQ(0, fake_cuda::live_allocations());
}

TEST_F(CudaGraphs, WhenMemoryRunsOutWhatIsKeptIsGivenBack) {
    fake_cuda::set_memory(1000);
    calotype_hold hold;
    calotype_recording recording;
    ASSERT_EQ(0, calotype_begin_kernels(nullptr, &module.desc, &hold));
    ASSERT_EQ(0, calotype_begin_recording(nullptr, &hold, &recording));
    calotype_test::Ints small(100), large(200), larger(300);
    EXPECT_EQ(0, calotype_record_malloc(nullptr, &recording, &small.buf, cuda()));
    EXPECT_EQ(0, record_one(nullptr, &recording, {0, 1}, small.buf.device));
    EXPECT_EQ(0, calotype_record_free(nullptr, &recording, &small.buf));
    EXPECT_EQ(0, calotype_record_malloc(nullptr, &recording, &large.buf, cuda()));
    EXPECT_EQ(0u, errors.count());
    EXPECT_EQ(1, fake_cuda::calls("cuLaunchKernel"));
    EXPECT_EQ(1, fake_cuda::live_allocations());
    EXPECT_NE(0, calotype_record_malloc(nullptr, &recording, &larger.buf, cuda()));
    EXPECT_EQ("device allocation failed: no 1200 bytes on CUDA device 0: "
              "cuMemAllocFromPoolAsync: "
              "CUDA_ERROR_OUT_OF_MEMORY (2), out of memory; 200 of 1000 bytes are free",
              errors.take());
    EXPECT_EQ(0, calotype_record_free(nullptr, &recording, &large.buf));
    calotype_end_recording(nullptr, &recording);
    calotype_end_kernels(nullptr, &hold);
}

TEST_F(CudaGraphs, InACaptureKernelsAreLaunched) {
    void *context = make_context(), *stream = make_stream(context);
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, stream);
    {
        Word w(&on);
        run(&on, two(), w.buf());
        run(&on, two(), w.buf());
        const int32_t before = *w.ints.on_device();
        ASSERT_EQ(0, cuStreamBeginCapture_v2(stream, 0));
        EXPECT_EQ(plain(2), calls_of([&] { EXPECT_EQ(0, record(&on, two(), w.buf())); }));
        void *graph = nullptr, *exec = nullptr;
        ASSERT_EQ(0, cuStreamEndCapture(stream, &graph));
        ASSERT_EQ(0, cuGraphInstantiateWithFlags(&exec, graph, 0));
        EXPECT_EQ(before, *w.ints.on_device());
        for (int i = 1; i <= 100; i++) {
            *w.ints.on_device() = i;
            EXPECT_EQ(0, cuGraphLaunch(exec, stream));
            EXPECT_EQ((i + 3) * 5, *w.ints.on_device());
        }
        EXPECT_EQ(updating(0), run(&on, two(), w.buf())) << "ours is as it was";
        EXPECT_EQ(0, cuGraphExecDestroy(exec));
        EXPECT_EQ(0, cuGraphDestroy(graph));
    }
    calotype_device_release(&on, cuda());
    EXPECT_EQ(0, fake_cuda::live_graphs());
    EXPECT_EQ(0, cuCtxDestroy_v2(context));
}

TEST_F(CudaGraphs, AColdKernelInACaptureIsAnErrorAndTheCaptureGoesOn) {
    void *context = make_context(), *stream = make_stream(context);
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, stream);
    {
        Word w(&on);
        ASSERT_EQ(0, cuStreamBeginCapture_v2(stream, 0));
        EXPECT_NE(0, record(&on, {}, w.buf()));
        EXPECT_EQ(
            "device code of arithmetic: loading failed: not possible while a stream is being "
            "captured: kernel add, the first of 2, is not loaded in this context, and loading "
            "it would break the capture; call calotype_prefetch or run the pipeline once "
            "before",
            errors.take());
        void *graph = nullptr;
        EXPECT_EQ(0, cuStreamEndCapture(stream, &graph)) << "the capture is as it was";
        EXPECT_EQ(0, cuGraphDestroy(graph));
    }
    calotype_device_release(&on, cuda());
    EXPECT_EQ(0, cuCtxDestroy_v2(context));
}

TEST_F(CudaGraphs, TheyGoBeforeTheirModule) {
    Word w;
    run(nullptr, two(), w.buf());
    run(nullptr, two(), w.buf());
    EXPECT_EQ(2, fake_cuda::live_graphs());
    int left = -1;
    fake_cuda::before("cuModuleUnload", [&] { left = fake_cuda::live_graphs(); });
    EXPECT_EQ(CALOTYPE_OK, calotype_evict(nullptr, &module.desc, 0));
    EXPECT_EQ(0, left);
    fake_cuda::before("cuModuleUnload", nullptr);
    EXPECT_EQ(plain(2), run(nullptr, two(), w.buf())) << "a module loaded anew begins anew";
    EXPECT_EQ(making(2), run(nullptr, two(), w.buf()));
}

TEST_F(CudaGraphs, OfALostContextTheyAreForgotten) {
    void *context = make_context(), *stream = make_stream(context);
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, stream);
    uint64_t uid = 0;
    {
        Word w(&on);
        run(&on, two(), w.buf());
        run(&on, two(), w.buf());
        EXPECT_EQ(CALOTYPE_OK, calotype_context_uid(&on, cuda(), &uid));
    }
    EXPECT_EQ(0, cuCtxDestroy_v2(context));
    EXPECT_EQ(Calls(), calls_of([&] { EXPECT_EQ(CALOTYPE_OK, calotype_context_lost(uid)); }));
    EXPECT_EQ(0, fake_cuda::live_graphs());
}

/// A graph that a thread launches is there until that is done.
TEST_F(CudaGraphs, AForcedReleaseWaitsForAGraphThatIsBeingLaunched) {
    Word w;
    run(nullptr, two(), w.buf());
    run(nullptr, two(), w.buf());
    EXPECT_EQ(2, fake_cuda::live_graphs());
    std::atomic<bool> is_launching{false};
    fake_cuda::before("cuGraphLaunch", [&] {
        is_launching = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        EXPECT_EQ(2, fake_cuda::live_graphs());
    });
    int left = -1;
    fake_cuda::before("cuModuleUnload", [&] { left = fake_cuda::live_graphs(); });
    std::thread thread([&] { EXPECT_EQ(0, record(nullptr, two(), w.buf())); });
    while (!is_launching) {
        std::this_thread::yield();
    }
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(nullptr, CALOTYPE_REL_FORCE, 0));
    EXPECT_EQ(0, left);
    thread.join();
    fake_cuda::before("cuGraphLaunch", nullptr);
    fake_cuda::before("cuModuleUnload", nullptr);
}

/// Nor for ever: for all graphs together so long as for one.
TEST_F(CudaGraphs, AForcedReleaseGivesUpGraphsThatAreNotLaunchedInTime) {
    constexpr int n_threads = 3;
    std::mutex lock;
    std::condition_variable changed;
    int launching = 0;
    bool is_open = false;
    void *context = make_context();
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, nullptr);
    {
        Word w(&on);
        run(&on, two(), w.buf());
        run(&on, two(), w.buf());
    }
    fake_cuda::before("cuGraphLaunch", [&] {
        std::unique_lock<std::mutex> guard(lock);
        launching++;
        changed.notify_all();
        changed.wait(guard, [&] { return is_open; });
    });
    std::vector<std::thread> threads;
    for (int t = 0; t < n_threads; t++) {
        threads.emplace_back([&] {
            Word w(&on);
            record(&on, two(), w.buf());
        });
    }
    {
        std::unique_lock<std::mutex> guard(lock);
        changed.wait(guard, [&] { return launching == n_threads; });
    }
    EXPECT_EQ(2 * n_threads, fake_cuda::live_graphs());
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(&on, CALOTYPE_REL_FORCE, 0));
    const auto waited = std::chrono::steady_clock::now() - begin;
    EXPECT_LE(std::chrono::milliseconds(1900), waited);
    EXPECT_GE(std::chrono::milliseconds(3900), waited);
    {
        std::lock_guard<std::mutex> guard(lock);
        is_open = true;
        changed.notify_all();
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    fake_cuda::before("cuGraphLaunch", nullptr);
    calotype_device_release(&on, cuda());
    EXPECT_EQ(0, cuCtxDestroy_v2(context));
}

/// One that comes between a launch's look at its module and its graph.
TEST_F(CudaGraphs, AfterAForcedReleaseNoGraphIsMade) {
    static void *context;
    static int calls_until_release;
    context = make_context();
    calls_until_release = -1;
    calotype_set_cuda_acquire_context([](void *, CUctx_st **answer, bool) {
        *answer = static_cast<CUctx_st *>(context);
        if (calls_until_release >= 0 && calls_until_release-- == 0) {
            EXPECT_EQ(CALOTYPE_OK, calotype_release_context(nullptr, CALOTYPE_REL_FORCE, 0));
        }
        return 0;
    });
    for (int runs = 1; runs <= 3; runs++) {
        Word w;
        for (int i = 0; i < runs; i++) {
            run(nullptr, two(), w.buf());
        }
        EXPECT_EQ(runs == 1 ? 0 : 2, fake_cuda::live_graphs());
        calls_until_release = 1;  // after that of initialize
        const Calls ends = {{"cuGraphExecDestroy", 1}, {"cuGraphDestroy", 1}};
        EXPECT_EQ(runs == 1 ? Calls() : ends,
                  calls_of([&] { EXPECT_NE(0, record(nullptr, two(), w.buf())); }));
        EXPECT_EQ("launching failed: the context is gone: the module was unloaded although it is "
                  "held",
                  errors.take());
        EXPECT_EQ(0, fake_cuda::live_graphs());
    }
    calotype_release_context(nullptr, CALOTYPE_REL_FORCE, 0);
    calotype_set_cuda_acquire_context(nullptr);
    EXPECT_EQ(0, cuCtxDestroy_v2(context));
}

TEST_F(CudaGraphs, ThreadsDoNotShareAGraphAtOneTime) {
    constexpr int n_threads = 8, n_calls = 200;
    void *context = make_context();
    std::vector<std::thread> threads;
    for (int t = 0; t < n_threads; t++) {
        void *stream = make_stream(context);
        threads.emplace_back([=, this] {
            calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, stream);
            Word w(&on);
            for (int i = 0; i < n_calls; i++) {
                const auto steps = two(uint32_t(t * 1000 + i), uint32_t(i % 3), 1 + i / 50);
                const uint32_t before = uint32_t(*w.ints.on_device());
                ASSERT_EQ(0, record(&on, steps, w.buf()));
                ASSERT_EQ(expected(before, steps), uint32_t(*w.ints.on_device()));
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    EXPECT_GE(32, fake_cuda::live_graphs());
    EXPECT_LE(1u, stats()[0]);
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, nullptr);
    calotype_device_release(&on, cuda());
    EXPECT_EQ(0, fake_cuda::live_graphs());
    EXPECT_EQ(0, cuCtxDestroy_v2(context));
}

TEST_F(CudaGraphs, ADriverThatLacksAFunctionHasNone) {
    static const char *hidden;
    for (const char *function : {"cuGraphCreate", "cuGraphAddKernelNode",
                                 "cuGraphInstantiateWithFlags", "cuGraphExecKernelNodeSetParams",
                                 "cuGraphLaunch", "cuGraphExecDestroy", "cuGraphDestroy"}) {
        hidden = function;
        const auto old = calotype_set_custom_get_library_symbol([](void *lib, const char *name) {
            return strcmp(name, hidden) == 0 ? nullptr
                                             : calotype_default_get_library_symbol(lib, name);
        });
        calotype_device_release(nullptr, cuda());
        EXPECT_EQ(0, start());
        calotype_set_custom_get_library_symbol(old);
        Word w;
        for (int i = 0; i < 3; i++) {
            EXPECT_EQ(plain(2), run(nullptr, two(), w.buf())) << function;
        }
    }
    EXPECT_EQ((std::array<uint64_t, 3>{}), stats());
}

TEST_F(CudaGraphs, StatisticsOfTheSizeBeforeAreAnsweredToo) {
    calotype_stats s;
    memset(&s, 0x7f, sizeof s);
    s.size = uint32_t(offsetof(calotype_stats, graphs));
    EXPECT_EQ(CALOTYPE_OK, calotype_get_stats(0, &s));
    EXPECT_EQ(offsetof(calotype_stats, graphs), s.size);
    EXPECT_EQ(uint64_t(0x7f7f7f7f7f7f7f7f), s.graphs);
    s.size -= 8;
    EXPECT_EQ(CALOTYPE_E_INVALID, calotype_get_stats(0, &s));
}

}  // namespace
