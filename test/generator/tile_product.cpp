// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The product of matrices in tile registers that we ship, against plain C++.
#include <gtest/gtest.h>

#include <cstdint>

#include <calotype/buffer.h>
#include <calotype/runtime.h>

#include "tile_product_bfloat16.h"
#include "tile_product_int8.h"

namespace {

constexpr int columns = 16;  ///< of a tile

bool has_tiles() {
    calotype_set_error_handler([](void *, const char *) {});
    const int status = calotype_request_matrix_tiles(nullptr);
    calotype_set_error_handler(nullptr);
    EXPECT_TRUE(status == 0 || status == calotype_error_code_unimplemented) << status;
    return status == 0;
}

/// Small whole numbers: products of bfloat16 are exact.
int value(int i, int j) {
    return (i * 7 + j * 5) % 17 - 8;
}

template<typename T>
T as(int v) {
    return T(v);
}
template<>
uint16_t as(int v) {  // bfloat16: the upper half of a float
    const float f = float(v);
    uint32_t bits;
    memcpy(&bits, &f, sizeof(bits));
    return uint16_t(bits >> 16);
}

template<typename T, typename Sum, typename F>
void check_product(F product, calotype_type_t type, int width, int height, int depth) {
    SCOPED_TRACE(std::to_string(width) + " x " + std::to_string(height) + " x " +
                 std::to_string(depth));
    using calotype::Runtime::Buffer;
    const int packed = 4 / int(sizeof(T));
    Buffer<T> a(depth, height), b(packed, columns, depth / packed, width / columns);
    Buffer<Sum> output(width, height);
    a.for_each_element([&](int k, int y) { a(k, y) = as<T>(value(k, y)); });
    b.for_each_element([&](int i, int x, int k, int tile) {
        b(i, x, k, tile) = as<T>(value(tile * columns + x, k * packed + i));
    });
    a.raw_buffer()->type = b.raw_buffer()->type = type;
    ASSERT_EQ(product(a.raw_buffer(), b.raw_buffer(), output.raw_buffer()), 0);
    output.for_each_element([&](int x, int y) {
        int sum = 0;
        for (int k = 0; k < depth; k++) {
            sum += value(k, y) * value(x, k);
        }
        ASSERT_EQ(int(output(x, y)), sum) << x << " " << y;
    });
}

TEST(TileProduct, AsPlainLoops) {
    if (!has_tiles()) {
        GTEST_SKIP() << "no tile registers";
    }
    for (int width : {32, 96}) {
        for (int height : {32, 33, 80, 300}) {
            for (int depth : {64, 72, 256}) {
                check_product<int8_t, int32_t>(tile_product_int8, {calotype_type_int, 8, 1}, width,
                                               height, depth);
                check_product<uint16_t, float>(tile_product_bfloat16, {calotype_type_bfloat, 16, 1},
                                               width, height, depth);
            }
        }
    }
}

}  // namespace
