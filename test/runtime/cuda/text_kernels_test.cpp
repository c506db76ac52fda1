// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels given as PTX and launched by name, under the names that other generators call.
#include <thread>

#include "harness/cache_stats.h"
#include "runtime/abi/kernel_cache.h"
#include "runtime/compat/HalideRuntimeCuda.h"
#include "runtime/cuda/fixture.h"

namespace {

using calotype_test::cache_stats;
using calotype_test::FakeCuda;
using calotype_test::FakeLaunch;
using calotype_test::Ints;

const char text[] = R"(.version 6.0
.target sm_50
.address_size 64
.visible .entry add(
    .param .u64 data,
    .param .u32 amount
) { ret; }
.visible .entry other() { ret; }
)";

/// What the last launch of `add` saw.
struct Seen {
    uint64_t data = 0;
    int32_t amount = 0;
} seen;

void add(const FakeLaunch &launch) {
    seen = {*static_cast<const uint64_t *>(launch.args[0].value),
            *static_cast<const int32_t *>(launch.args[1].value)};
}

class CudaText : public FakeCuda {
protected:
    void *state = nullptr;
    Ints data{8};

    CudaText() {
        setenv("CT_NVJITLINK", "off", 1);
        seen = {};
        fake_cuda::define_kernel("add", add);
        calotype_set_store_dir(nullptr, 0, CALOTYPE_STORE_OFF);
        calotype_shutdown(1000);
        calotype_reset_stats();
        EXPECT_EQ(0, calotype_device_malloc(nullptr, &data.buf, cuda()));
    }
    ~CudaText() override {
        EXPECT_EQ(0, calotype_device_free(nullptr, &data.buf));
        EXPECT_EQ(0u, cache_stats().holds);
        EXPECT_EQ(CALOTYPE_OK, calotype_shutdown(1000));
        unsetenv("CT_NVJITLINK");
    }
    /// "compiles loads misses hits"
    static std::string counts() {
        const calotype_stats s = cache_stats();
        return std::to_string(s.compiles) + " " + std::to_string(s.loads) + " " +
               std::to_string(s.misses) + " " + std::to_string(s.hits);
    }
    int initialize(void **at, const char *ptx = text) {
        return halide_cuda_initialize_kernels(nullptr, at, ptx, int(strlen(ptx)));
    }
    int run(void *of, const char *entry, int32_t amount) {
        size_t sizes[] = {8, 4, 0};
        void *args[] = {&data.buf, &amount, nullptr};
        int8_t is_buffer[] = {1, 0, 0};
        return halide_cuda_run(nullptr, of, entry, 1, 2, 3, 4, 5, 6, 0, sizes, args, is_buffer);
    }
};

TEST_F(CudaText, InitializeRunFinalize) {
    for (int i = 0; i < 3; i++) {
        ASSERT_EQ(0, initialize(&state));
        EXPECT_EQ(0, run(state, "add", 40 + i));
        EXPECT_EQ(data.buf.device, seen.data);
        EXPECT_EQ(40 + i, seen.amount);
        EXPECT_EQ(1u, cache_stats().holds);
        halide_cuda_finalize_kernels(nullptr, state);
        EXPECT_EQ(0u, cache_stats().holds);
    }
    EXPECT_EQ("1 1 1 2", counts());
    EXPECT_EQ(3, fake_cuda::calls("cuLaunchKernel"));
}

/// The text says which module it is, not the object that brings it.
TEST_F(CudaText, EqualTextsAreOneModule) {
    void *other = nullptr, *third = nullptr;
    ASSERT_EQ(0, initialize(&state));
    ASSERT_EQ(0, initialize(&other));
    EXPECT_EQ(state, other);
    const std::string changed = std::string(text) + "// changed\n";
    ASSERT_EQ(0, initialize(&third, changed.c_str()));
    EXPECT_NE(state, third);
    EXPECT_EQ("2 2 2 1", counts());
    EXPECT_EQ(3u, cache_stats().holds);
    halide_cuda_finalize_kernels(nullptr, state);
    halide_cuda_finalize_kernels(nullptr, third);
    EXPECT_EQ(0, run(state, "other", 0));
    halide_cuda_finalize_kernels(nullptr, other);
}

TEST_F(CudaText, OtherThreadsMayRun) {
    ASSERT_EQ(0, initialize(&state));
    std::thread([&] { EXPECT_EQ(0, run(state, "add", 7)); }).join();
    EXPECT_EQ(7, seen.amount);
    EXPECT_EQ("1 1 1 1", counts());
    EXPECT_EQ(1u, cache_stats().holds);
    halide_cuda_finalize_kernels(nullptr, state);
}

/// Each user context launches what it holds itself, in its own context.
TEST_F(CudaText, TwoContextsHoldOneText) {
    void *contexts[2] = {make_context(), make_context()};
    calotype_device_context first = CALOTYPE_DEVICE_CONTEXT(contexts[0], nullptr);
    calotype_device_context second = CALOTYPE_DEVICE_CONTEXT(contexts[1], nullptr);
    static void *launched_in;
    fake_cuda::define_kernel(
        "other", [](const FakeLaunch &) { launched_in = fake_cuda::current_context(); });
    for (calotype_device_context *on : {&first, &second}) {
        ASSERT_EQ(0, halide_cuda_initialize_kernels(on, &state, text, int(sizeof text)));
    }
    EXPECT_EQ("1 2 2 0", counts());
    for (calotype_device_context *on : {&first, &second}) {
        size_t sizes[] = {0};
        void *args[] = {nullptr};
        int8_t is_buffer[] = {0};
        EXPECT_EQ(0,
                  halide_cuda_run(on, state, "other", 1, 1, 1, 1, 1, 1, 0, sizes, args, is_buffer))
            << errors.take();
        EXPECT_EQ(on->context, launched_in);
    }
    EXPECT_EQ("1 2 2 0", counts());
    halide_cuda_finalize_kernels(&first, state);
    halide_cuda_finalize_kernels(&second, state);
    EXPECT_EQ(0u, cache_stats().holds);
    for (calotype_device_context *on : {&first, &second}) {
        calotype_device_release(on, cuda());
        EXPECT_EQ(0, cuCtxDestroy_v2(on->context));
    }
}

TEST_F(CudaText, ManyArguments) {
    const std::string many = [] {
        std::string s = ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry many(";
        for (int i = 0; i < 100; i++) {
            s += (i ? ", " : "") + (".param .u32 p" + std::to_string(i));
        }
        return s + ") { ret; }\n";
    }();
    static int32_t last;
    last = 0;
    fake_cuda::define_kernel("many", [](const FakeLaunch &launch) {
        last = *static_cast<const int32_t *>(launch.args[99].value);
    });
    std::vector<int32_t> values(100);
    std::vector<size_t> sizes(101, 4);
    std::vector<void *> args(101);
    std::vector<int8_t> is_buffer(101);
    sizes[100] = 0;
    for (int i = 0; i < 100; i++) {
        values[size_t(i)] = 1000 + i;
        args[size_t(i)] = &values[size_t(i)];
    }
    ASSERT_EQ(0, initialize(&state, many.c_str()));
    EXPECT_EQ(0, halide_cuda_run(nullptr, state, "many", 1, 1, 1, 1, 1, 1, 0, sizes.data(),
                                 args.data(), is_buffer.data()));
    EXPECT_EQ(1099, last);
    halide_cuda_finalize_kernels(nullptr, state);
}

TEST_F(CudaText, Errors) {
    const auto expect_error = [&](const std::string &message) {
        EXPECT_EQ(message, errors.take());
    };
    EXPECT_NE(0, run(nullptr, "add", 1));
    expect_error("the kernels are not initialized");
    EXPECT_NE(0, halide_cuda_initialize_kernels(nullptr, &state, nullptr, 0));
    expect_error("a text of kernels and a place for their state are needed");
    ASSERT_EQ(0, initialize(&state));
    EXPECT_EQ(calotype_error_code_device_run_failed, run(state, "nobody", 1));
    expect_error("the module has no kernel nobody");
    halide_cuda_finalize_kernels(nullptr, state);
    halide_cuda_finalize_kernels(nullptr, state);
    expect_error("kernels are finalized that this thread has not initialized");
    void *broken = nullptr;
    EXPECT_NE(0, initialize(&broken, ".version 6.0\n.target sm_50\nsyntax error\n"));
    EXPECT_NE(std::string::npos, errors.take().find("does not assemble"));
    EXPECT_EQ(0u, cache_stats().holds);
}

}  // namespace
