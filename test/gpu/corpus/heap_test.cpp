// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Storage of threads out of the device's heap: what is computed there, that all of it is given
// back, and what is said where there is not enough. CUDA alone has such a heap.
#include "gpu/corpus/corpus_test.h"

#include "all_cuda.h"
#include "runtime/abi/errors.h"
#include "runtime/abi/nrt.h"

using namespace calotype_test;

namespace {

class ThreadHeap : public ::testing::Test {
protected:
    void SetUp() override {
        if (!has_cuda()) {
            GTEST_SKIP() << "no CUDA device";
        }
        ASSERT_EQ(calotype_nrt_enable_stats(nullptr, 1), CALOTYPE_OK);
        ASSERT_EQ(calotype_nrt_reset(nullptr), CALOTYPE_OK);
    }
    void TearDown() override {
        if (has_cuda()) {
            EXPECT_EQ(calotype_nrt_enable_stats(nullptr, 0), CALOTYPE_OK);
        }
    }
    static calotype_nrt_stats stats() {
        calotype_nrt_stats s = {};
        s.size = sizeof s;
        EXPECT_EQ(calotype_nrt_read(nullptr, &s), CALOTYPE_OK);
        EXPECT_EQ(s.free_, s.alloc);
        EXPECT_EQ(s.free_bytes, s.alloc_bytes);
        return s;
    }
};

int32_t total(int32_t first, int count) {
    int32_t sum = 0, result = 0;
    for (int i = 0; i < count; i++) {
        sum += first + i;
        result += sum * (i % 3 + 1);
    }
    return result;
}

std::string last_error;

void keep_error(void *, const char *text) {
    last_error = text;
}

TEST_F(ThreadHeap, OfAnArgumentsSize) {
    uint64_t blocks = 0;
    for (int width : {1, 64, 1000}) {
        for (int count : {0, 1, 2, 7, 100}) {
            // Threads behind the end compute as well, and store nothing.
            const int threads = (width + 63) / 64 * 64;
            Image<int32_t, 1> in(threads), out(width);
            fill(in);
            expect_success(thread_heap_cuda(in, count, out), out);
            for (int x = 0; x < width; x++) {
                ASSERT_EQ(out(x), total(in(x), count)) << count << " at " << x;
            }
            blocks += uint64_t(threads);
            const calotype_nrt_stats s = stats();
            EXPECT_EQ(s.alloc, blocks);
            EXPECT_EQ(s.failed, 0u);
        }
    }
}

TEST_F(ThreadHeap, TwoOfEachThreadsOwnSize) {
    const int width = 37, height = 5, columns = 11, threads = 48;
    Image<uint16_t, 1> sizes(threads);
    sizes.for_each_element([&](int x) { sizes(x) = uint16_t(x * 7 % 30); });
    sizes.set_host_dirty();
    Image<double, 2> out(width, height);
    expect_success(thread_heaps_cuda(sizes, columns, 30, out), out);
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            double expected = y;
            for (int k = 0; k < sizes(x); k++) {
                double row = 0;
                for (int i = 0; i < columns; i++) {
                    row += float(i * 3 + k * 5 + x);
                }
                expected += row * (k + 1);
            }
            ASSERT_EQ(out(x, y), expected) << x << ", " << y;
        }
    }
    EXPECT_EQ(stats().alloc, uint64_t(2 * threads * height));
}

// Some threads have memory and give it back, the others say how much they wanted.
TEST_F(ThreadHeap, ThatIsTooSmall) {
    const auto handler = calotype_set_error_handler(keep_error);
    Image<int32_t, 1> in(4096), out(4096);
    fill(in);
    const int count = 1 << 18;
    EXPECT_EQ(thread_heap_cuda(in, count, out), calotype_error_code_device_heap_exhausted);
    EXPECT_EQ(last_error, "device heap exhausted in kernel output_s0: 1048576 bytes; make it "
                          "larger with calotype_nrt_set_heap()");
    calotype_nrt_stats s = stats();
    EXPECT_GT(s.failed, 0u);
    EXPECT_EQ(s.alloc + s.failed, 4096u);
    // More than any device has.
    EXPECT_EQ(thread_heap_cuda(in, INT32_MAX, out), calotype_error_code_device_heap_exhausted);
    EXPECT_EQ(last_error, "device heap exhausted in kernel output_s0: 8589934588 bytes; make it "
                          "larger with calotype_nrt_set_heap()");
    calotype_set_error_handler(handler);
    // And all is as before.
    ASSERT_EQ(calotype_nrt_reset(nullptr), CALOTYPE_OK);
    expect_success(thread_heap_cuda(in, 10, out), out);
    EXPECT_EQ(out(4095), total(in(4095), 10));
    EXPECT_EQ(stats().alloc, 4096u);
}

}  // namespace
