// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pipelines as graphs of the driver: replayed by the runtime, and captured by the caller.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include <calotype/buffer.h>
#include <calotype/runtime.h>

#include "all_graphs.h"
#include "all_streams.h"
#include "gpu/graphs/driver.h"
#include "harness/cache_stats.h"
#include "runtime/abi/kernel_cache.h"
#include "runtime/abi/runtime_cuda.h"

namespace {

using calotype_test::cache_stats;

template<typename T, int D>
using Image = calotype::Runtime::Buffer<T, D>;
using Line = Image<float, 1>;

std::string last_message;
void keep_message(void *, const char *text) {
    last_message = text;
}

class CudaGraphs : public ::testing::Test {
protected:
    calotype_test::GraphDriver cuda = {};
    void *context = nullptr;
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(nullptr, nullptr);

    void SetUp() override {
        if (!calotype_cuda_can_run(90) || !cuda.open()) {
            GTEST_SKIP() << "no CUDA device";
        }
        context = make_context();
        on = CALOTYPE_DEVICE_CONTEXT(context, make_stream());
        ASSERT_EQ(0, cuda.ctx_pop(&context));
        calotype_reset_stats();
        calotype_set_error_handler(keep_message);
    }
    void TearDown() override {
        if (context) {
            uint64_t uid = 0;
            EXPECT_EQ(CALOTYPE_OK,
                      calotype_context_uid(&on, calotype_cuda_device_interface(), &uid));
            EXPECT_EQ(CALOTYPE_OK, calotype_release_context(&on, CALOTYPE_REL_BUSY, 0));
            calotype_device_release(&on, calotype_cuda_device_interface());
            EXPECT_EQ(0, cuda.ctx_destroy(context));
            calotype_context_lost(uid);
            calotype_set_error_handler(nullptr);
        }
    }
    void *make_context() {
        void *made = nullptr;
        EXPECT_EQ(0, cuda.ctx_create(&made, 0, 0));
        return made;
    }
    void *make_stream() {
        void *stream = nullptr;
        EXPECT_EQ(0, cuda.stream_create(&stream, 1));
        return stream;
    }
    static void fill(Line &line, int seed) {
        line.for_each_element([&](int x) { line(x) = float((x * 7 + seed) % 31) * 0.25f; });
        line.set_host_dirty();
    }
    static float expected(float v, float gain) {
        for (int i = 0; i < 50; i++) {
            v = v * gain + float(i);
        }
        return v * gain + 1.0f;
    }
    static void check(const Line &in, float gain, const Line &out) {
        for (int x = 0; x < out.width(); x++) {
            const float wanted = expected(in(x), gain);
            ASSERT_NEAR(wanted, out(x), 1e-4f * std::fabs(wanted)) << x;
        }
    }
};

TEST_F(CudaGraphs, TheSameAsOneByOneForEachShapeAndArgument) {
    for (int round = 0; round < 6; round++) {
        for (int width : {64, 64, 65, 1000}) {
            Line in(width), out(width), plain(width);
            fill(in, round);
            const float gain = 0.97f + 0.01f * float(round);
            ASSERT_EQ(0, gain_51_graphs(&on, in, gain, out)) << last_message;
            ASSERT_EQ(0, gain_51_streams(&on, in, gain, plain)) << last_message;
            ASSERT_EQ(0, out.copy_to_host(&on));
            ASSERT_EQ(0, plain.copy_to_host(&on));
            for (int x = 0; x < width; x++) {
                ASSERT_EQ(plain(x), out(x)) << x;
            }
            check(in, gain, out);
            in.device_free(&on);
            out.device_free(&on);
            plain.device_free(&on);
        }
    }
    // The very first call is plain; the second of each shape makes a graph, the first of another
    // one uses that of the others.
    EXPECT_EQ(23u, cache_stats().graph_launches);
    EXPECT_EQ(3u, cache_stats().graphs);
    EXPECT_LE(51u * 5, cache_stats().graph_updates);
}

TEST_F(CudaGraphs, TheHostInBetweenSeesWhatWasComputed) {
    for (int round = 0; round < 4; round++) {
        Image<int32_t, 2> in(45, 23), out(45, 23);
        in.for_each_element([&](int x, int y) { in(x, y) = x * 3 + y + round; });
        in.set_host_dirty();
        ASSERT_EQ(0, to_and_fro_graphs(&on, in, out)) << last_message;
        ASSERT_EQ(0, out.copy_to_host(&on));
        out.for_each_element(
            [&](int x, int y) { ASSERT_EQ(out(x, y), (in(x, y) + 1) * 2 + y - x); });
        in.device_free(&on);
        out.device_free(&on);
    }
}

TEST_F(CudaGraphs, UpdateStagesAndConditions) {
    for (int round = 0; round < 4; round++) {
        Image<int32_t, 2> in(67, 40), out(64, 40), copy(64, 40);
        in.for_each_element([&](int x, int y) { in(x, y) = x * 5 - y * 9 + round; });
        in.set_host_dirty();
        ASSERT_EQ(0, updates_graphs(&on, in, out)) << last_message;
        ASSERT_EQ(0, specialised_graphs(&on, out, round % 2, copy)) << last_message;
        ASSERT_EQ(0, copy.copy_to_host(&on));
        copy.for_each_element([&](int x, int y) {
            int value = in(x, y);
            for (int i = 0; i < 4; i++) {
                value += in(x + i, y) * (i + 1);
            }
            ASSERT_EQ(copy(x, y), std::max(value, 100) + round % 2);
        });
        in.device_free(&on);
        out.device_free(&on);
        copy.device_free(&on);
    }
}

TEST_F(CudaGraphs, AStreamEach) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; t++) {
        ASSERT_EQ(0, cuda.set_current(context));
        void *stream = make_stream();
        ASSERT_EQ(0, cuda.set_current(nullptr));
        threads.emplace_back([this, t, stream] {
            calotype_device_context mine = CALOTYPE_DEVICE_CONTEXT(context, stream);
            Line in(300), out(300);
            for (int i = 0; i < 50; i++) {
                fill(in, t + i);
                const float gain = 0.95f + 0.01f * float(i % 7);
                ASSERT_EQ(0, gain_51_graphs(&mine, in, gain, out));
                ASSERT_EQ(0, out.copy_to_host(&mine));
                check(in, gain, out);
            }
            in.device_free(&mine);
            out.device_free(&mine);
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    EXPECT_GE(16u, cache_stats().graphs);
    EXPECT_LE(300u, cache_stats().graph_launches);
}

/// Captured once, replayed often: what is in the buffers may change, the buffers may not.
template<typename F>
void capture_and_replay(const calotype_test::GraphDriver &cuda, calotype_device_context &on,
                        F run) {
    Line in(500), out(500);
    const Line &sent = in, &received = out;  // to read is not to write
    const auto fill_and_send = [&](int seed) {
        in.for_each_element([&](int x) { in(x) = float((x * 11 + seed) % 17); });
        in.set_host_dirty();
        ASSERT_EQ(0, in.copy_to_device(calotype_cuda_device_interface(), &on));
    };
    fill_and_send(0);
    ASSERT_EQ(0, run(in, out)) << last_message;  // the warm call
    Line dropped(100);
    ASSERT_EQ(0, dropped.device_malloc(calotype_cuda_device_interface(), &on));
    void *graph = nullptr, *exec = nullptr;
    ASSERT_EQ(0, cuda.begin_capture(on.stream, 0));
    ASSERT_EQ(0, run(in, out)) << last_message;
    calotype_device_context without_stream = CALOTYPE_DEVICE_CONTEXT(on.context, nullptr);
    EXPECT_EQ(0, dropped.device_free(&without_stream)) << "which must not end the capture";
    ASSERT_EQ(0, cuda.end_capture(on.stream, &graph));
    EXPECT_EQ(1u, cache_stats().holds) << "the graph's, of the module";
    // Memory that a graph allocates is of the context that is current when it is made.
    ASSERT_EQ(0, cuda.set_current(on.context));
    ASSERT_EQ(0, cuda.instantiate(&exec, graph, 0));
    ASSERT_EQ(0, cuda.set_current(nullptr));
    EXPECT_EQ(0, cuda.graph_destroy(graph));
    EXPECT_EQ(CALOTYPE_OK, calotype_trim(&on, 0, nullptr));
    EXPECT_EQ(0u, cache_stats().unloads) << "an instance lives";
    for (int i = 0; i < 100; i++) {
        fill_and_send(i);
        ASSERT_EQ(0, cuda.launch_graph(exec, on.stream));
        out.set_device_dirty();
        ASSERT_EQ(0, out.copy_to_host(&on));
        for (int x = 0; x < 500; x++) {
            ASSERT_EQ(sent(x) + float(49 * 50 / 2 + 1), received(x)) << i << " " << x;
        }
    }
    EXPECT_EQ(0, cuda.exec_destroy(exec));
    // The driver tells a little later.
    for (int ms = 0; ms < 1000 && cache_stats().unloads == 0; ms++) {
        usleep(1000);
        EXPECT_EQ(CALOTYPE_OK, calotype_trim(&on, 0, nullptr));
    }
    EXPECT_EQ(1u, cache_stats().unloads);
    EXPECT_EQ(0u, cache_stats().holds);
    in.device_free(&on);
    out.device_free(&on);
}

TEST_F(CudaGraphs, TheCallerCaptures) {
    capture_and_replay(cuda, on,
                       [&](Line &in, Line &out) { return gain_51_streams(&on, in, 1.0f, out); });
    EXPECT_EQ(0u, cache_stats().graph_launches);
}

TEST_F(CudaGraphs, TheCallerCapturesWhatTheRuntimeWouldReplay) {
    capture_and_replay(cuda, on,
                       [&](Line &in, Line &out) { return gain_51_graphs(&on, in, 1.0f, out); });
    EXPECT_EQ(0u, cache_stats().graph_launches);
}

TEST_F(CudaGraphs, WhatACaptureCannotHaveIsAnError) {
    Line in(64), out(64);
    fill(in, 1);
    void *graph = nullptr;
    // A module that is not loaded.
    ASSERT_EQ(0, in.copy_to_device(calotype_cuda_device_interface(), &on));
    ASSERT_EQ(0, cuda.begin_capture(on.stream, 0));
    EXPECT_NE(0, gain_51_streams(&on, in, 0.5f, out));
    EXPECT_NE(std::string::npos,
              last_message.find(", the first of 51, is not loaded in this context, "
                                "and loading it would break the capture"))
        << last_message;
    EXPECT_EQ(0, cuda.end_capture(on.stream, &graph)) << "the capture is as it was";
    EXPECT_EQ(0, cuda.graph_destroy(graph));
    // Data that is still on the host.
    ASSERT_EQ(0, gain_51_streams(&on, in, 0.5f, out)) << last_message;
    in.set_host_dirty();
    ASSERT_EQ(0, cuda.begin_capture(on.stream, 0));
    EXPECT_NE(0, gain_51_streams(&on, in, 0.5f, out));
    EXPECT_NE(std::string::npos,
              last_message.find("a copy from the host would wait, but the stream "
                                "is being captured"))
        << last_message;
    EXPECT_EQ(0, cuda.end_capture(on.stream, &graph));
    EXPECT_EQ(0, cuda.graph_destroy(graph));
    in.device_free(&on);
    out.device_free(&on);
}

}  // namespace
