// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of matrices by matrix instructions, on OpenCL by loops. Operands are small integers, so
// that all sums are exact and every element must be the same.
#include "corpus_test.h"

#include <cstring>
#include <vector>

#include "all_cuda.h"
#include "all_opencl.h"
#include "all_warpgroups.h"

using namespace calotype_test;

namespace {

/// Operands as their bits, and the numbers that these mean.
struct Half {
    using Bits = uint16_t;
    static constexpr calotype_type_t type = {calotype_type_float, 16, 1};
    static Bits bits(int value) {  // of -16 to 15
        if (value == 0) {
            return 0;
        }
        const int magnitude = value < 0 ? -value : value;
        int exponent = 0;
        while (magnitude >> (exponent + 1)) {
            exponent++;
        }
        const int fraction = (magnitude << (10 - exponent)) & 1023;
        return Bits((value < 0 ? 0x8000 : 0) | (exponent + 15) << 10 | fraction);
    }
};
struct BFloat {
    using Bits = uint16_t;
    static constexpr calotype_type_t type = {calotype_type_bfloat, 16, 1};
    static Bits bits(int value) {
        const float f = float(value);
        uint32_t all;
        std::memcpy(&all, &f, sizeof all);
        return Bits(all >> 16);
    }
};
template<typename T>
struct Plain {
    using Bits = T;
    static constexpr calotype_type_t type = calotype_type_of<T>();
    static Bits bits(int value) {
        return T(value);
    }
};
template<typename Kind>
struct Operand {
    calotype::Runtime::Buffer<void, 2> buffer;
    std::vector<int> values;
    int depth;

    /// `across` rows of a or columns of b; `by_depth` tells whether neighbours are next in depth.
    Operand(int depth, int across, bool by_depth, int offset)
        : buffer(Kind::type, by_depth ? depth : across, by_depth ? across : depth),
          values(size_t(depth) * size_t(across)), depth(depth) {
        auto *bits = static_cast<typename Kind::Bits *>(buffer.data());
        uint32_t state = 12345u + uint32_t(depth * 7 + across * 3 + offset);
        for (int i = 0; i < across; i++) {
            for (int k = 0; k < depth; k++) {
                state = state * 1664525u + 1013904223u;
                const int value = int(state >> 24) % 32 + offset;
                at(k, i) = value;
                bits[by_depth ? i * depth + k : k * across + i] = Kind::bits(value);
            }
        }
        buffer.set_host_dirty();
    }
    int &at(int k, int i) {
        return values[size_t(i) * size_t(depth) + size_t(k)];
    }
};

/// Sizes are multiples of `tile` and `step`, as the schedules ask.
template<typename Sum, typename KindA, typename KindB, typename F>
void check_products(F run, bool a_by_columns, bool b_by_columns, int tile, int step,
                    int tile_height = 0) {
    for (int scale : {1, 3}) {
        const int width = 2 * tile, height = (tile_height ? tile_height : tile) * scale;
        const int depth = step * (2 * scale + 1);
        for (int min : {0, -5}) {
            Operand<KindA> a(depth, height, !a_by_columns,
                             KindA::type.code == calotype_type_uint ? 0 : -16);
            Operand<KindB> b(depth, width, b_by_columns,
                             KindB::type.code == calotype_type_uint ? 0 : -16);
            Image<Sum, 2> out(width, height);
            out.translate(0, min);
            out.translate(1, 2 * min);
            b.buffer.translate(b_by_columns ? 1 : 0, min);
            a.buffer.translate(a_by_columns ? 0 : 1, 2 * min);
            expect_success(run(a.buffer, b.buffer, out), out);
            for (int y = 0; y < height; y++) {
                for (int x = 0; x < width; x++) {
                    int sum = x + min - (y + 2 * min);
                    for (int k = 0; k < depth; k++) {
                        sum += a.at(k, y) * b.at(k, x);
                    }
                    ASSERT_EQ(out(x + min, y + 2 * min), Sum(sum))
                        << x << " " << y << " of " << width << " by " << height;
                }
            }
        }
    }
}

template<typename F>
void check_s8(F run) {
    check_products<int32_t, Plain<int8_t>, Plain<int8_t>>(run, false, false, 32, 32);
}
template<typename F>
void check_u8_s8(F run) {
    check_products<int32_t, Plain<uint8_t>, Plain<int8_t>>(run, false, true, 32, 32);
}
template<typename F>
void check_s8_u8(F run) {
    check_products<int32_t, Plain<int8_t>, Plain<uint8_t>>(run, false, true, 32, 32);
}
template<typename F>
void check_u8(F run) {
    check_products<int32_t, Plain<uint8_t>, Plain<uint8_t>>(run, true, false, 32, 64);
}
template<typename F>
void check_tf32_columns(F run) {
    check_products<float, Plain<float>, Plain<float>>(run, false, true, 32, 8);
}
template<typename F>
void check_tf32_global(F run) {
    check_products<float, Plain<float>, Plain<float>>(run, true, false, 32, 32);
}
GPU_TEST(matrix_s8, check_s8)
GPU_TEST(matrix_u8_s8, check_u8_s8)
GPU_TEST(matrix_s8_u8, check_s8_u8)
GPU_TEST(matrix_u8, check_u8)
GPU_TEST(matrix_tf32_columns, check_tf32_columns)
GPU_TEST(matrix_tf32_global, check_tf32_global)

/// For CUDA alone: OpenCL devices need not have the types.
#define CUDA_MATRIX_TEST(name, Kind, ...)                                                          \
    TEST(Cuda, name) {                                                                             \
        if (!has_cuda()) {                                                                         \
            GTEST_SKIP() << "no CUDA device";                                                      \
        }                                                                                          \
        check_products<float, Kind, Kind>(name##_cuda, __VA_ARGS__);                               \
    }
CUDA_MATRIX_TEST(matrix_f16, Half, false, false, 32, 32)
CUDA_MATRIX_TEST(matrix_f16_columns, Half, false, true, 64, 32)
CUDA_MATRIX_TEST(matrix_f16_rows, Half, true, false, 32, 16)
CUDA_MATRIX_TEST(matrix_f16_global, Half, true, true, 32, 48)
CUDA_MATRIX_TEST(matrix_bf16, BFloat, false, false, 32, 32)
CUDA_MATRIX_TEST(matrix_bf16_both, BFloat, true, true, 32, 32)

/// For compute capability 9.0a alone.
#define GROUP_TEST(name, Sum, KindA, KindB, ...)                                                   \
    TEST(Cuda, name) {                                                                             \
        if (!has_cuda() || calotype_cuda_can_run(91)) {                                            \
            GTEST_SKIP() << "no CUDA device of compute capability 9.0";                            \
        }                                                                                          \
        check_products<Sum, KindA, KindB>(name##_warpgroups, __VA_ARGS__);                         \
    }
GROUP_TEST(group_f16, float, Half, Half, false, false, 64, 64)
GROUP_TEST(group_f16_columns, float, Half, Half, false, true, 128, 128)
GROUP_TEST(group_f16_rows, float, Half, Half, true, false, 64, 32)
GROUP_TEST(group_bf16_narrow, float, BFloat, BFloat, false, true, 24, 64, 64)
GROUP_TEST(group_s8, int32_t, Plain<int8_t>, Plain<int8_t>, false, true, 96, 128, 64)
GROUP_TEST(group_tf32, float, Plain<float>, Plain<float>, false, true, 64, 32)
GROUP_TEST(group_tiles_tf32, float, Plain<float>, Plain<float>, false, true, 64, 64, 128)
GROUP_TEST(group_tiles, float, Half, Half, false, false, 64, 64)
GROUP_TEST(group_tiles_columns, float, Half, Half, false, true, 128, 128)
GROUP_TEST(group_tiles_rows, float, Half, Half, true, false, 64, 64, 128)
GROUP_TEST(group_tiles_s8, int32_t, Plain<int8_t>, Plain<int8_t>, false, true, 96, 256, 192)
GROUP_TEST(group_u8, int32_t, Plain<uint8_t>, Plain<uint8_t>, false, true, 32, 256, 128)

constexpr size_t converted = 5;
using Floats = std::array<float, converted>;
constexpr Floats floats = {1 + 0x1p-11f, 1 + 0x1.8p-11f, 1 + 0x1p-12f, -1 - 0x1p-11f, 0x1.ffep+3f};
/// To 10 bits of fraction, ties away from zero, and without those beyond.
constexpr Floats rounded = {1 + 0x1p-10f, 1 + 0x1p-10f, 1, -1 - 0x1p-10f, 16};
constexpr Floats truncated = {1, 1, 1, -1, 0x1.ffcp+3f};

/// What operands become, in products of so many rows, columns and steps.
template<typename F>
void check_conversion(F run, const Floats &expected, int size) {
    for (size_t i = 0; i < converted; i++) {
        Image<float, 2> a(size, size), b(size, size), out(size, size);
        a.fill(0);
        b.fill(1);
        for (int y = 0; y < size; y++) {
            a(y, y) = floats[i];
        }
        a.set_host_dirty();
        b.set_host_dirty();
        expect_success(run(a, b, out), out);
        out.for_each_element([&](int x, int y) {
            ASSERT_EQ(out(x, y), expected[i] + float(x - y)) << "of " << floats[i];
        });
    }
}
template<typename F>
void check_tf32_rounds(F run) {
    check_conversion(run, rounded, 32);
}
template<typename F>
void check_tf32_truncated(F run) {
    check_products<float, Plain<float>, Plain<float>>(run, false, false, 32, 32);
    check_conversion(run, truncated, 32);
}
TEST(OpenCl, matrix_tf32_rounds) {
    if (!has_opencl()) {
        GTEST_SKIP() << "no OpenCL device";
    }
    check_tf32_rounds(matrix_tf32_columns_opencl);
}
TEST(Cuda, matrix_tf32_rounds) {
    if (!has_cuda()) {
        GTEST_SKIP() << "no CUDA device";
    }
    check_tf32_rounds(matrix_tf32_columns_cuda);
}
GPU_TEST(matrix_tf32_truncated, check_tf32_truncated)
TEST(Cuda, group_tf32_truncates) {
    if (!has_cuda() || calotype_cuda_can_run(91)) {
        GTEST_SKIP() << "no CUDA device of compute capability 9.0";
    }
    check_conversion(group_tf32_warpgroups, truncated, 64);
    check_conversion(group_tiles_tf32_warpgroups, truncated, 128);
}

}  // namespace
