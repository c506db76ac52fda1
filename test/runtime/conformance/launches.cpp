// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fixture, and kernels that are launched.
#include <thread>

#include "harness/on_context.h"
#include "runtime/abi/hooks.h"
#include "runtime/abi/kernel_cache.h"
#include "runtime/conformance/conformance.h"

namespace calotype_test {

namespace {

std::string &reported() {
    static std::string text;
    return text;
}

const calotype_kernel_arg fill_args[] = {{1, 8, 0, 1}, {0, 4, 0, 0}, {0, 4, 0, 0}};
const calotype_kernel_arg add_args[] = {{1, 8, 0, 0}, {1, 8, 0, 0}, {1, 8, 0, 1}, {0, 4, 0, 0}};
const calotype_kernel_arg reverse_args[] = {{1, 8, 0, 1}};
const calotype_kernel_desc kernels[] = {
    {"fill", fill_args, 3, 0, 0, 0},
    {"add", add_args, 4, 0, 0, 0},
    {"reverse", reverse_args, 1, 0, 0, CALOTYPE_KERNEL_DYNAMIC_SHARED}};
enum : uint32_t { fill, add, reverse };

/// Ints on the host and, once there, on the device.
struct Numbers {
    std::vector<int> data;
    calotype_dimension_t dim[1];
    calotype_buffer_t buf = {};

    explicit Numbers(int n) : data(size_t(n)), dim{{0, n, 1}} {
        buf.host = reinterpret_cast<uint8_t *>(data.data());
        buf.type = calotype_type_of<int>();
        buf.dimensions = 1;
        buf.dim = dim;
    }
};

}  // namespace

void Conformance::SetUp() {
    device = GetParam()();
    const std::string why = device->why_not();
    if (!why.empty()) {
        GTEST_SKIP() << why;
    }
    reported().clear();
    calotype_set_error_handler(
        [](void *, const char *text) { reported() += text + std::string("\n"); });
    calotype_set_store_dir(nullptr, 0, CALOTYPE_STORE_OFF);
    interface = device->device_interface()();
    module_image = device->image();
    module.size = sizeof module;
    module.abi = CALOTYPE_ABI_VERSION;
    module.name = "conformance";
    module.uid.b[0] = 77;
    module.device_interface = device->device_interface();
    module.images = &module_image;
    module.n_images = 1;
    module.kernels = kernels;
    module.n_kernels = 3;
}

void Conformance::TearDown() {
    if (interface) {
        calotype_device_release(nullptr, interface);
        EXPECT_EQ(CALOTYPE_OK, calotype_shutdown(5000)) << calotype_last_error()->log;
        calotype_stats stats = {};
        stats.size = sizeof stats;
        calotype_get_stats(0, &stats);
        EXPECT_EQ(0u, stats.live_modules);
        EXPECT_EQ("", errors());
        calotype_set_error_handler(nullptr);
    }
    device.reset();
}

int Conformance::launch(void *context, uint32_t kernel, int threads, std::vector<void *> args,
                        int shared_bytes) {
    calotype_hold hold = {};
    if (int code = calotype_begin_kernels(context, &module, &hold)) {
        return code;
    }
    const int32_t shape[7] = {(threads + 63) / 64, 1, 1, 64, 1, 1, shared_bytes};
    const int code = calotype_run_kernel(context, &hold, kernel, shape, args.data());
    calotype_end_kernels(context, &hold);
    return code;
}

std::string Conformance::errors() {
    return std::move(reported());
}

namespace {

TEST_P(Conformance, KernelsReadAndWriteBuffers) {
    Numbers a(1000), b(1000), c(1000);
    for (Numbers *numbers : {&a, &b, &c}) {
        ASSERT_EQ(0, calotype_device_malloc(nullptr, &numbers->buf, interface)) << errors();
    }
    int n = 1000, one = 1, thousand = 1000;
    ASSERT_EQ(0, launch(nullptr, fill, n, {&a.buf.device, &one, &n})) << errors();
    ASSERT_EQ(0, launch(nullptr, fill, n, {&b.buf.device, &thousand, &n})) << errors();
    ASSERT_EQ(0, launch(nullptr, add, n, {&a.buf.device, &b.buf.device, &c.buf.device, &n}));
    c.buf.set_device_dirty();
    ASSERT_EQ(0, calotype_copy_to_host(nullptr, &c.buf));
    for (int i = 0; i < n; i++) {
        ASSERT_EQ(1001 + 2 * i, c.data[size_t(i)]);
    }
    for (Numbers *numbers : {&a, &b, &c}) {
        EXPECT_EQ(0, calotype_device_free(nullptr, &numbers->buf));
    }
}

TEST_P(Conformance, DynamicSharedMemory) {
    Numbers a(256);
    for (int i = 0; i < 256; i++) {
        a.data[size_t(i)] = i;
    }
    a.buf.set_host_dirty();
    ASSERT_EQ(0, calotype_copy_to_device(nullptr, &a.buf, interface));
    ASSERT_EQ(0, launch(nullptr, reverse, 256, {&a.buf.device}, 256)) << errors();
    a.buf.set_device_dirty();
    ASSERT_EQ(0, calotype_copy_to_host(nullptr, &a.buf));
    for (int i = 0; i < 256; i++) {
        ASSERT_EQ(i / 64 * 64 + 63 - i % 64, a.data[size_t(i)]);
    }
    EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
}

TEST_P(Conformance, ALaunchBeyondTheDevice) {
    Numbers a(64);
    ASSERT_EQ(0, calotype_device_malloc(nullptr, &a.buf, interface));
    calotype_hold hold = {};
    ASSERT_EQ(0, calotype_begin_kernels(nullptr, &module, &hold)) << errors();
    const int32_t shape[7] = {1, 1, 1, 1 << 20, 1, 1, 0}, none[7] = {0, 1, 1, 64, 1, 1, 0};
    int n = 64, one = 1;
    void *args[] = {&a.buf.device, &one, &n};
    EXPECT_NE(0, calotype_run_kernel(nullptr, &hold, fill, shape, args));
    EXPECT_EQ(CALOTYPE_E_LAUNCH, calotype_last_error()->status);
    const std::string text = errors();
    EXPECT_NE(std::string::npos, text.find("fill")) << text;
    EXPECT_NE(std::string::npos, text.find("1048576")) << text;
    EXPECT_EQ(0, calotype_run_kernel(nullptr, &hold, fill, none, args));
    // The device still works.
    const int32_t good[7] = {1, 1, 1, 64, 1, 1, 0};
    EXPECT_EQ(0, calotype_run_kernel(nullptr, &hold, fill, good, args)) << errors();
    calotype_end_kernels(nullptr, &hold);
    EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
}

TEST_P(Conformance, TwoContextsManyThreads) {
    void *contexts[2] = {device->make_context(), device->make_context()};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; t++) {
        threads.emplace_back([&, t] {
            void *context = contexts[t % 2];
            Numbers a(500);
            EXPECT_EQ(0, calotype_device_malloc(context, &a.buf, interface));
            for (int i = 0; i < 10; i++) {
                int value = 100 * t + i, n = 500;
                EXPECT_EQ(0, launch(context, fill, n, {&a.buf.device, &value, &n}));
                a.buf.set_device_dirty();
                EXPECT_EQ(0, calotype_copy_to_host(context, &a.buf));
                EXPECT_EQ(value + 499, a.data[499]);
            }
            EXPECT_EQ(0, calotype_device_free(context, &a.buf));
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    calotype_stats stats = {};
    stats.size = sizeof stats;
    calotype_get_stats(0, &stats);
    EXPECT_EQ(2u, stats.live_modules);
    for (void *context : contexts) {
        EXPECT_EQ(CALOTYPE_OK, calotype_release_context(on(context), CALOTYPE_REL_BUSY, 0));
        device->end_context(context);
    }
}

TEST_P(Conformance, ReleasedAndUsedAgain) {
    for (int round = 0; round < 3; round++) {
        Numbers a(10);
        ASSERT_EQ(0, calotype_device_malloc(nullptr, &a.buf, interface)) << errors();
        int n = 10, value = round;
        ASSERT_EQ(0, launch(nullptr, fill, n, {&a.buf.device, &value, &n})) << errors();
        a.buf.set_device_dirty();
        ASSERT_EQ(0, calotype_copy_to_host(nullptr, &a.buf));
        EXPECT_EQ(round + 9, a.data[9]);
        EXPECT_EQ(0, calotype_device_sync_global(nullptr, interface));
        EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
        calotype_device_release(nullptr, interface);
    }
    int major = -1, minor = -1;
    EXPECT_EQ(0, interface->compute_capability(nullptr, &major, &minor));
    EXPECT_GE(major, 0);
}

}  // namespace

}  // namespace calotype_test
