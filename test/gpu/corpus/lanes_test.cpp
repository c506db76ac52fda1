// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values that lanes take from each other: on CUDA by shuffles, on OpenCL in shared memory.
#include "corpus_test.h"

#include <cmath>

#include "all_cuda.h"
#include "all_opencl.h"

using namespace calotype_test;

namespace {

template<typename F>
void check_neighbours(F run, bool is_bool) {
    for (int width : {32, 33, 70, 640}) {
        Image<int32_t, 2> in(width + 2, 29), out(width, 29);
        fill(in);
        expect_success(run(in, out), out);
        const auto f = [&](int x, int y) {
            const int value = in(x, y) & 127;
            return is_bool ? value & 1 : value;
        };
        out.for_each_element([&](int x, int y) {
            ASSERT_EQ(out(x, y), f(x, y) + 3 * f(x + 1, y) + 7 * f(x + 2, y)) << x << " " << y;
        });
    }
}

template<typename F>
void check_lanes(F run) {
    check_neighbours(run, false);
}
template<typename F>
void check_bools(F run) {
    check_neighbours(run, true);
}
GPU_TEST(lanes_f32, check_lanes)
GPU_TEST(lanes_u8, check_lanes)
GPU_TEST(lanes_bool, check_bools)
GPU_TEST(lanes_i16, check_lanes)
GPU_TEST(lanes_i64, check_lanes)
GPU_TEST(lanes_f64, check_lanes)
GPU_TEST(lanes_8_by_6, check_lanes)
GPU_TEST(lanes_16_i64, check_lanes)
GPU_TEST(lanes_20, check_lanes)
GPU_TEST(lanes_20_by_2, check_lanes)

/// For CUDA alone: OpenCL devices need not have the type.
template<typename F>
void check_on_cuda(F run) {
    if (!has_cuda()) {
        GTEST_SKIP() << "no CUDA device";
    }
    check_lanes(run);
}
TEST(Cuda, lanes_f16) {
    check_on_cuda(lanes_f16_cuda);
}
TEST(Cuda, lanes_bf16) {
    check_on_cuda(lanes_bf16_cuda);
}

template<typename F>
void check_tile(F run) {
    for (int width : {32, 45, 128}) {
        Image<float, 2> in(width + 2, 22), out(width, 20);
        fill(in);
        expect_success(run(in, out), out);
        out.for_each_element([&](int x, int y) {
            float sum = 0;
            for (int i = 0; i < 9; i++) {
                sum += std::sqrt(in(x + i % 3, y + i / 3)) * float(i + 1);
            }
            ASSERT_NEAR(out(x, y), sum, 1e-5f * sum) << x << " " << y;
        });
    }
}
GPU_TEST(lanes_tile, check_tile)
GPU_TEST(lanes_tile_shared, check_tile)

template<typename F>
void check_sums(F run) {
    for (int width : {32, 50, 1000}) {
        Image<float, 2> in(width, 18), out(width, 18);
        fill(in);
        expect_success(run(in, out), out);
        for (int y = 0; y < 18; y++) {
            double sum = 0;
            for (int x = 0; x < width; x++) {
                sum += in(x, y);
            }
            for (int x = 0; x < width; x++) {
                ASSERT_NEAR(out(x, y), in(x, y) - sum / width, 1e-3 * sum / width) << x << " " << y;
            }
        }
    }
}
GPU_TEST(lanes_sums, check_sums)
GPU_TEST(lanes_sums_8, check_sums)
GPU_TEST(lanes_sums_shared, check_sums)

template<typename F>
void check_butterfly(F run) {
    Image<int64_t, 2> in(128, 7), out(128, 7);
    fill(in);
    in.for_each_value([](int64_t &value) { value *= 1234567891234; });
    expect_success(run(in, out), out);
    out.for_each_element([&](int x, int y) {
        int64_t sum = 0;
        for (int i = 0; i < 32; i++) {
            sum += in(x / 32 * 32 + i, y);
        }
        ASSERT_EQ(out(x, y), sum - in(x, y)) << x << " " << y;
    });
}
GPU_TEST(lanes_butterfly, check_butterfly)
GPU_TEST(lanes_butterfly_shared, check_butterfly)

template<typename F>
void check_table(F run) {
    Image<uint8_t, 2> in(75, 9);
    Image<uint16_t, 1> table(32);
    Image<uint16_t, 2> out(75, 9);
    fill(in);
    in.for_each_value([](uint8_t &value) { value %= 40; });
    fill(table);
    expect_success(run(in, table, out), out);
    out.for_each_element(
        [&](int x, int y) { ASSERT_EQ(out(x, y), table(std::min<int>(in(x, y), 31))); });
}
GPU_TEST(lanes_table, check_table)

template<typename F>
void check_vectors(F run) {
    for (int width : {128, 300}) {
        Image<float, 2> in(width + 4, 5), out(width, 5);
        fill(in);
        expect_success(run(in, out), out);
        out.for_each_element([&](int x, int y) {
            ASSERT_EQ(out(x, y), 2 * in(x, y) - 2 * in(x + 3, y) + 2 * in(x + 4, y));
        });
    }
}
GPU_TEST(lanes_vectors, check_vectors)

template<typename F>
void check_scan(F run) {
    Image<int32_t, 2> in(96, 4), out(96, 4);
    fill(in);
    expect_success(run(in, out), out);
    out.for_each_element([&](int x, int y) {
        int sum = 0;
        for (int i = x / 32 * 32; i <= x; i++) {
            sum += in(i, y);
        }
        ASSERT_EQ(out(x, y), sum) << x << " " << y;
    });
}
GPU_TEST(lanes_scan, check_scan)

}  // namespace
