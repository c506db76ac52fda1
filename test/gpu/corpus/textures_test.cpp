// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "corpus_test.h"

#include <cstring>
#include <vector>

#include "all_cuda.h"
#include "all_opencl.h"

using namespace calotype_test;
using calotype::Runtime::Buffer;

namespace {

/// A shape with rows that are not a power of two, and mins below zero.
struct Shape {
    int width, height;
};
const Shape shapes[] = {{1, 1}, {37, 19}, {64, 5}, {0, 3}};

template<typename F>
void check_copy(F run, calotype_type_t type) {
    for (const Shape &shape : shapes) {
        Buffer<void, 2> in(type, shape.width, shape.height), out(type, shape.width, shape.height);
        in.set_min(-5, -70);
        out.set_min(-5, -70);
        const size_t bytes = in.number_of_elements() * size_t(type.bytes());
        std::vector<uint8_t> want(bytes);
        for (size_t i = 0; i < bytes; i++) {
            // Every byte of an integer; floats of 32 bits that are finite and not tiny.
            const bool top = type.code == calotype_type_float && type.bits == 32 && i % 4 == 3;
            want[i] = top ? uint8_t(0x40 | (i & 0x80)) : uint8_t(i * 37 + i / 256);
        }
        if (bytes) {
            memcpy(in.data(), want.data(), bytes);
        }
        in.set_host_dirty();
        expect_success(run(in, out), out);
        EXPECT_TRUE(bytes == 0 || memcmp(out.data(), want.data(), bytes) == 0)
            << shape.width << " x " << shape.height;
    }
}

#define TEXTURE_COPY(name, code, bits)                                                             \
    template<typename F>                                                                           \
    void check_##name(F run) {                                                                     \
        check_copy(run, calotype_type_t(code, bits));                                              \
    }                                                                                              \
    GPU_TEST(name, check_##name)
TEXTURE_COPY(texture_u8, calotype_type_uint, 8)
TEXTURE_COPY(texture_i8, calotype_type_int, 8)
TEXTURE_COPY(texture_u16, calotype_type_uint, 16)
TEXTURE_COPY(texture_i16, calotype_type_int, 16)
TEXTURE_COPY(texture_u32, calotype_type_uint, 32)
TEXTURE_COPY(texture_i32, calotype_type_int, 32)
TEXTURE_COPY(texture_f16, calotype_type_float, 16)
TEXTURE_COPY(texture_bf16, calotype_type_bfloat, 16)
TEXTURE_COPY(texture_f32, calotype_type_float, 32)

template<typename F>
void check_texture_mix(F run) {
    const int width = 45, height = 23;
    Image<int32_t, 1> curve(600);
    Image<uint8_t, 3> volume(width + 9, height + 1, 3);
    Image<float, 2> plain(width, height), image(width, height);
    Image<int32_t, 2> other(width, height);
    fill(curve, 3);
    fill(volume, 5);
    fill(plain, 7);
    ASSERT_EQ(run(curve, volume, plain, image, other), 0) << calotype_last_error()->log;
    ASSERT_EQ(image.copy_to_host(), 0);
    ASSERT_EQ(other.copy_to_host(), 0);
    const auto looked_up = [&](int x, int y) {
        return curve(volume(x, y, 0) + volume(x, y, 2));
    };
    const auto deep = [&](int x, int y, int z) {
        return int16_t(looked_up(x, y) * 2 + looked_up(x + 1, y) + z);
    };
    image.for_each_element([&](int x, int y) {
        ASSERT_EQ(image(x, y), plain(x, y) + float(deep(x, y, 1))) << x << ", " << y;
        ASSERT_EQ(other(x, y), deep(x, y, 0) + deep(x, y + 1, 2)) << x << ", " << y;
    });
}
GPU_TEST(texture_mix, check_texture_mix)

}  // namespace
