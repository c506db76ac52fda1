// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffers that wander between GPUs, copies that do not wait, and defaults of context and stream, on
// the CUDA driver of this machine.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include <calotype/buffer.h>

#include "gpu/scenarios/driver_functions.h"
#include "runtime/abi/device_context.h"
#include "runtime/abi/kernel_cache.h"
#include "runtime/abi/runtime_cuda.h"

namespace {

using calotype::Runtime::Buffer;
using calotype_test::cuda_functions;
using calotype_test::CudaFunctions;

/// Adds to each of n ints.
const char add_kernel[] = R"(.version 6.0
.target sm_50
.address_size 64
.visible .entry add(.param .u64 data, .param .u32 n, .param .u32 what)
{
    .reg .pred %p;
    .reg .b32 %r<8>;
    .reg .b64 %d<4>;
    ld.param.u64 %d0, [data];
    ld.param.u32 %r0, [n];
    ld.param.u32 %r1, [what];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.u32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p, %r5, %r0;
    @%p ret;
    mul.wide.u32 %d1, %r5, 4;
    add.u64 %d2, %d0, %d1;
    ld.global.u32 %r6, [%d2];
    add.u32 %r7, %r6, %r1;
    st.global.u32 [%d2], %r7;
    ret;
}
)";

class CudaCopies : public testing::Test {
protected:
    const CudaFunctions &cuda = cuda_functions();
    void *state = nullptr;

    void SetUp() override {
        if (!cuda.is_there) {
            GTEST_SKIP() << "no CUDA driver";
        }
        calotype_set_store_dir(nullptr, 0, CALOTYPE_STORE_OFF);
        calotype_set_error_handler([](void *, const char *text) { ADD_FAILURE() << text; });
    }
    void TearDown() override {
        calotype_set_cuda_acquire_context(nullptr);
        calotype_set_cuda_get_stream(nullptr);
        calotype_set_gpu_device(-1);
        calotype_set_error_handler(nullptr);
        if (cuda.is_there) {
            EXPECT_EQ(CALOTYPE_OK, calotype_shutdown(5000));
        }
    }
    static const calotype_device_interface_t *device() {
        return calotype_cuda_device_interface();
    }
    /// As a pipeline does that updates the buffer.
    void add(void *user_context, Buffer<int> &buffer, int what) {
        int n = int(buffer.number_of_elements());
        ASSERT_EQ(0, calotype_copy_to_device(user_context, buffer.raw_buffer(), device()));
        ASSERT_EQ(0, calotype_cuda_initialize_kernels(user_context, &state, add_kernel,
                                                      int(sizeof add_kernel)));
        uint64_t address = buffer.raw_buffer()->device;
        void *args[] = {&address, &n, &what, nullptr};
        size_t sizes[] = {8, 4, 4, 0};
        int8_t is_buffer[] = {0, 0, 0, 0};
        EXPECT_EQ(0, calotype_cuda_run(user_context, state, "add", (n + 255) / 256, 1, 1, 256, 1, 1,
                                       0, sizes, args, is_buffer));
        calotype_cuda_finalize_kernels(user_context, state);
        buffer.set_device_dirty();
    }
    static int devices() {
        int n = 0;
        char why[512] = {};
        do {
            calotype_set_gpu_device(n++);
            calotype_cuda_explain(0, why, sizeof why);
        } while (why[0] == 0);
        calotype_set_gpu_device(-1);
        return n - 1;
    }
};

TEST_F(CudaCopies, BuffersWanderBetweenDevices) {
    const int n = devices();
    if (n < 2) {
        GTEST_SKIP() << "one device";
    }
    std::mt19937 random(7);
    std::vector<Buffer<int>> buffers;
    std::vector<int> expected;
    for (int i = 0; i < 8; i++) {
        buffers.emplace_back(1 + int(random() % 300000));
        buffers.back().fill(i);
        buffers.back().set_host_dirty();
        expected.push_back(i);
    }
    for (int step = 0; step < 500; step++) {
        const size_t i = random() % buffers.size();
        calotype_set_gpu_device(int(random() % unsigned(n)));
        if (random() % 4) {
            add(nullptr, buffers[i], step);
            expected[i] += step;
        } else {
            ASSERT_EQ(0, buffers[i].copy_to_host());
            buffers[i].for_each_value([&](int value) { ASSERT_EQ(expected[i], value); });
        }
    }
    for (size_t i = 0; i < buffers.size(); i++) {
        ASSERT_EQ(0, buffers[i].copy_to_host());
        buffers[i].for_each_value([&](int value) { ASSERT_EQ(expected[i], value); });
    }
}

TEST_F(CudaCopies, BetweenBuffersOfTwoDevices) {
    if (devices() < 2) {
        GTEST_SKIP() << "one device";
    }
    Buffer<int> a(70, 50, 30), part(40, 20, 10);
    a.for_each_element([&](int x, int y, int z) { a(x, y, z) = x + 100 * y + 10000 * z; });
    a.set_host_dirty();
    part.set_min(13, 7, 11);
    calotype_set_gpu_device(0);
    ASSERT_EQ(0, a.copy_to_device(device()));
    a.set_device_dirty();
    calotype_set_gpu_device(1);
    ASSERT_EQ(0, calotype_buffer_copy(nullptr, a.raw_buffer(), device(), part.raw_buffer()));
    ASSERT_EQ(0, part.copy_to_host());
    part.for_each_element(
        [&](int x, int y, int z) { ASSERT_EQ(x + 100 * y + 10000 * z, part(x, y, z)); });
}

/// A frame on each of two streams at a time: in, kernel, out, without a wait in between.
TEST_F(CudaCopies, OverlapWithKernels) {
    void *context = nullptr, *popped = nullptr, *streams[2] = {};
    ASSERT_EQ(0, cuda.primary_retain(&context, 0));
    ASSERT_EQ(0, cuda.ctx_push(context));
    for (void *&stream : streams) {
        ASSERT_EQ(0, cuda.stream_create(&stream, 1));
    }
    ASSERT_EQ(0, cuda.ctx_pop(&popped));
    std::vector<Buffer<int>> frames;
    for (int i = 0; i < 2; i++) {
        frames.emplace_back(nullptr, 4 << 20);
        calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, streams[i]);
        ASSERT_EQ(0, frames.back().device_and_host_malloc(device(), &on));
    }
    for (int frame = 0; frame < 20; frame++) {
        calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, streams[frame % 2]);
        Buffer<int> &data = frames[size_t(frame % 2)];
        if (frame >= 2) {
            ASSERT_EQ(0, data.device_sync(&on));
            data.for_each_value([&](int value) { ASSERT_EQ(frame - 2 + 1000, value); });
        }
        data.fill(frame);
        data.set_host_dirty();
        ASSERT_EQ(0, calotype_copy_to_device_async(&on, data.raw_buffer(), device()));
        add(&on, data, 1000);
        ASSERT_EQ(0, calotype_copy_to_host_async(&on, data.raw_buffer()));
    }
    for (int i = 0; i < 2; i++) {
        calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, streams[i]);
        ASSERT_EQ(0, frames[size_t(i)].device_sync(&on));
        frames[size_t(i)].for_each_value([&](int value) { ASSERT_EQ(18 + i + 1000, value); });
    }
}

/// Written on a stream of the application's, read by a call that names none.
TEST_F(CudaCopies, WithoutAStreamAreAfterTheWorkOfAll) {
    void *context = nullptr, *popped = nullptr, *stream = nullptr;
    ASSERT_EQ(0, cuda.primary_retain(&context, 0));
    ASSERT_EQ(0, cuda.ctx_push(context));
    ASSERT_EQ(0, cuda.stream_create(&stream, 1));
    ASSERT_EQ(0, cuda.ctx_pop(&popped));
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, stream);
    Buffer<int> data(8 << 20);
    for (int round = 0; round < 10; round++) {
        data.fill(round);
        data.set_host_dirty();
        for (int i = 0; i < 20; i++) {
            add(&on, data, 1);
        }
        ASSERT_EQ(0, data.copy_to_host());
        data.for_each_value([&](int value) { ASSERT_EQ(round + 20, value); });
    }
}

TEST_F(CudaCopies, DefaultsOfContextAndStream) {
    void *context = nullptr, *popped = nullptr;
    ASSERT_EQ(0, cuda.ctx_create(&context, 0, 0));
    calotype_set_cuda_acquire_context(calotype_cuda_acquire_current_context);
    calotype_set_cuda_get_stream(calotype_cuda_get_per_thread_stream);
    uint64_t uid = 0, found = 0;
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, nullptr);
    ASSERT_EQ(CALOTYPE_OK, calotype_context_uid(&on, device(), &uid));
    ASSERT_EQ(CALOTYPE_OK, calotype_context_uid(nullptr, device(), &found));
    EXPECT_EQ(uid, found);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++) {
        threads.emplace_back([&, t] {
            void *mine = nullptr;
            cuda.ctx_push(context);
            Buffer<int> data(100000);
            for (int round = 0; round < 20; round++) {
                data.fill(t);
                data.set_host_dirty();
                add(nullptr, data, round);
                ASSERT_EQ(0, data.copy_to_host());
                data.for_each_value([&](int value) { ASSERT_EQ(t + round, value); });
            }
            data.device_deallocate();
            cuda.ctx_pop(&mine);
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(&on, CALOTYPE_REL_BUSY, 0));
    ASSERT_EQ(0, cuda.ctx_pop(&popped));
    EXPECT_EQ(0, cuda.ctx_destroy(context));
}

}  // namespace
