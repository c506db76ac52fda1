// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "corpus_test.h"

#include <cmath>
#include <cstring>

#include "all_cuda.h"
#include "all_opencl.h"

using namespace calotype_test;

namespace calotype_test {

bool has_opencl() {
    return calotype_opencl_can_run() != 0;
}

}  // namespace calotype_test

namespace {

template<typename F>
void check_tile_1d(F run) {
    Image<float, 1> in(1000), out(1000);
    fill(in);
    expect_success(run(in, out), out);
    for (int x = 0; x < 1000; x++) {
        ASSERT_EQ(out(x), in(x)*2 + 1) << x;
    }
}
GPU_TEST(tile_1d, check_tile_1d)

template<typename F>
void check_tile_2d(F run) {
    for (int width : {16, 17, 100}) {
        Image<uint8_t, 2> in(width + 1, 38), out(width, 37);
        fill(in);
        expect_success(run(in, out), out);
        out.for_each_element([&](int x, int y) {
            ASSERT_EQ(out(x, y), uint8_t((in(x, y) + in(x + 1, y) + in(x, y + 1)) / 3));
        });
    }
}
GPU_TEST(tile_2d, check_tile_2d)

template<typename F>
void check_tile_3d(F run) {
    Image<int32_t, 3> in(19, 11, 7), out(19, 11, 7);
    fill(in);
    expect_success(run(in, out), out);
    out.for_each_element([&](int x, int y, int z) {
        ASSERT_EQ(out(x, y, z), in(x, y, z) * 3 + x + 10 * y + 100 * z);
    });
}
GPU_TEST(tile_3d, check_tile_3d)

template<typename F>
void check_chain(F run) {
    Image<float, 2> in(70, 33), out(70, 33);
    fill(in);
    expect_success(run(in, out), out);
    out.for_each_element([&](int x, int y) {
        float value = in(x, y) + 1;
        for (int i = 1; i < 5; i++) {
            value = value * 0.5f + float(i);
        }
        ASSERT_NEAR(out(x, y), value, 1e-4f * std::fabs(value));
    });
}
GPU_TEST(chain, check_chain)

template<typename F>
void check_to_and_fro(F run) {
    Image<int32_t, 2> in(45, 23), out(45, 23);
    fill(in);
    expect_success(run(in, out), out);
    out.for_each_element([&](int x, int y) { ASSERT_EQ(out(x, y), (in(x, y) + 1) * 2 + y - x); });
}
GPU_TEST(to_and_fro, check_to_and_fro)

template<typename F>
void check_specialised(F run) {
    for (int width : {7, 64}) {
        for (int added : {0, 5}) {
            Image<int32_t, 2> in(width, 9), out(width, 9);
            fill(in);
            expect_success(run(in, added, out), out);
            out.for_each_element([&](int x, int y) { ASSERT_EQ(out(x, y), in(x, y) + added); });
        }
    }
}
GPU_TEST(specialised, check_specialised)

template<typename F>
void check_shared_blur(F run) {
    Image<uint16_t, 2> in(102, 52), out(100, 50);
    fill(in);
    expect_success(run(in, out), out);
    out.for_each_element([&](int x, int y) {
        uint16_t sum = 0;
        for (int i = 0; i < 9; i++) {
            sum = uint16_t(sum + in(x + i % 3, y + i / 3));
        }
        ASSERT_EQ(out(x, y), sum / 9);
    });
}
GPU_TEST(shared_blur, check_shared_blur)

template<typename F>
void check_registers(F run) {
    Image<float, 2> in(97, 24), out(96, 24);
    fill(in);
    expect_success(run(in, out), out);
    out.for_each_element([&](int x, int y) {
        const float value = in(x, y) * in(x, y) + in(x + 1, y) * in(x + 1, y);
        ASSERT_NEAR(out(x, y), value, 1e-5f * value);
    });
}
GPU_TEST(registers, check_registers)

template<typename F>
void check_dynamic_shared(F run) {
    for (int radius : {0, 3, 40}) {
        Image<int32_t, 1> in(640 + 2 * radius), out(640);
        fill(in);
        expect_success(run(in, radius, out), out);
        for (int x = 0; x < 640; x++) {
            int sum = 0;
            for (int i = 0; i <= 2 * radius; i++) {
                sum += in(x + i);
            }
            ASSERT_EQ(out(x), sum) << x << " " << radius;
        }
    }
}
GPU_TEST(dynamic_shared, check_dynamic_shared)

/// Whether a launch was refused because the device has less shared memory.
bool needs_more_shared(int code) {
    return code == calotype_error_code_device_run_failed &&
           strstr(calotype_last_error()->log, "shared memory of a block in bytes is");
}

template<typename F>
void check_much_shared(F run) {
    Image<float, 2> in(128 + 64, 128 + 64), out(128, 128);
    fill(in);
    const int code = run(in, out);
    if (needs_more_shared(code)) {
        GTEST_SKIP() << "this device has less shared memory: " << calotype_last_error()->log;
    }
    expect_success(code, out);
    out.for_each_element([&](int x, int y) {
        ASSERT_EQ(out(x, y), in(x, y) * 3 + in(x + 64, y) * 3 + in(x, y + 64) * 3);
    });
}
GPU_TEST(much_shared, check_much_shared)

template<typename F>
void check_histogram(F run) {
    Image<uint8_t, 2> in(64, 48);
    Image<int32_t, 1> out(256);
    fill(in);
    expect_success(run(in, out), out);
    int expected[256] = {};
    in.for_each_element([&](int x, int y) { expected[in(x, y)]++; });
    for (int i = 0; i < 256; i++) {
        ASSERT_EQ(out(i), expected[i]) << i;
    }
}
GPU_TEST(histogram, check_histogram)

template<typename F>
void check_updates(F run) {
    Image<int32_t, 2> in(67, 40), out(64, 40);
    fill(in);
    expect_success(run(in, out), out);
    out.for_each_element([&](int x, int y) {
        int value = in(x, y);
        for (int i = 0; i < 4; i++) {
            value += in(x + i, y) * (i + 1);
        }
        ASSERT_EQ(out(x, y), std::max(value, 100));
    });
}
GPU_TEST(updates, check_updates)

template<typename F>
void check_tuples(F run) {
    Image<float, 2> in(50, 96);
    Image<float, 1> out(96);
    fill(in);
    expect_success(run(in, out), out);
    for (int y = 0; y < 96; y++) {
        float least = in(0, y), most = in(0, y);
        for (int x = 0; x < 50; x++) {
            least = std::min(least, in(x, y));
            most = std::max(most, in(x, y));
        }
        ASSERT_EQ(out(y), most - least) << y;
    }
}
GPU_TEST(tuples, check_tuples)

/** c = a b, where b is `width` wide and c `height` high. */
template<typename F>
void check_product(F run, int width, int height) {
    Image<float, 2> a(48, height), b(width, 48), out(width, height);
    fill(a, 1);
    fill(b, 2);
    const int code = run(a, b, out);
    if (needs_more_shared(code)) {
        GTEST_SKIP() << "this device has less shared memory: " << calotype_last_error()->log;
    }
    expect_success(code, out);
    out.for_each_element([&](int x, int y) {
        double sum = 0;
        for (int k = 0; k < 48; k++) {
            sum += double(a(k, y)) * double(b(x, k));
        }
        ASSERT_NEAR(out(x, y), sum, 1e-5 * sum);
    });
}

template<typename F>
void check_gemm(F run) {
    check_product(run, 96, 64);
}
GPU_TEST(gemm, check_gemm)

template<typename F>
void check_gemm_tiled(F run) {
    check_product(run, 256, 128);
}
GPU_TEST(gemm_tiled, check_gemm_tiled)

template<typename F>
void check_functions(F run) {
    Image<float, 1> in(100);
    Image<float, 2> out(100, 10);
    for (int i = 0; i < 100; i++) {
        in(i) = 0.05f * float(i + 1);
    }
    in.set_host_dirty();
    expect_success(run(in, out), out);
    for (int i = 0; i < 100; i++) {
        const double v = in(i);
        const double expected[] = {std::sqrt(v),  std::exp(v),  std::log(v),
                                   std::sin(v),   std::cos(v),  std::pow(v, 1.5),
                                   std::floor(v), std::tanh(v), std::atan2(v, 2.0)};
        for (int c = 0; c < 9; c++) {
            ASSERT_NEAR(out(i, c), expected[c], 1e-5 * std::max(1.0, std::fabs(expected[c])))
                << i << " " << c;
        }
        ASSERT_NEAR(out(i, 9) * v, 1, 1e-3);
    }
}
GPU_TEST(functions, check_functions)

template<typename F>
void check_vectors(F run) {
    Image<float, 1> in(1024), out(1024);
    fill(in);
    expect_success(run(in, out), out);
    for (int x = 0; x < 1024; x++) {
        ASSERT_EQ(out(x), in(x)*0.5f + 3);
    }
}
GPU_TEST(vectors, check_vectors)

/** a * b + a / b - a % b as the language defines it; floats have no remainder here. */
template<typename T, typename F>
void check_arithmetic(F run) {
    Image<T, 1> a(300), b(300), out(300);
    fill(a, 3);
    for (int i = 0; i < 300; i++) {
        a(i) = T(i % 100 + 1);
        b(i) = T(i % 7 + 1);
    }
    a.set_host_dirty();
    b.set_host_dirty();
    expect_success(run(a, b, out), out);
    for (int i = 0; i < 300; i++) {
        if constexpr (std::is_floating_point_v<T>) {
            const double expected = double(a(i)) * double(b(i)) + double(a(i)) / double(b(i));
            ASSERT_NEAR(out(i), expected, 1e-6 * expected);
        } else {
            const int64_t x = int64_t(a(i)), y = int64_t(b(i));
            ASSERT_EQ(out(i), T(x * y + x / y - x % y)) << i;
        }
    }
}
#define ARITHMETIC(name, type)                                                                     \
    template<typename F>                                                                           \
    void check_##name(F run) {                                                                     \
        check_arithmetic<type>(run);                                                               \
    }                                                                                              \
    GPU_TEST(name, check_##name)
ARITHMETIC(arithmetic_u8, uint8_t)
ARITHMETIC(arithmetic_i8, int8_t)
ARITHMETIC(arithmetic_u16, uint16_t)
ARITHMETIC(arithmetic_i16, int16_t)
ARITHMETIC(arithmetic_u32, uint32_t)
ARITHMETIC(arithmetic_i32, int32_t)
ARITHMETIC(arithmetic_u64, uint64_t)
ARITHMETIC(arithmetic_i64, int64_t)
ARITHMETIC(arithmetic_f32, float)
ARITHMETIC(arithmetic_f64, double)

}  // namespace
