// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same results whether rows begin at multiples of 16 bytes or not.
#include "corpus_test.h"

#include <algorithm>

#include "all_cuda.h"
#include "all_opencl.h"

using namespace calotype_test;

namespace {

/// Rows are `stride` apart, and coordinates begin at the mins.
template<typename T>
struct Rows {
    Image<T, 2> whole, part;
    Rows(int width, int height, int stride, int min_x, int min_y)
        : whole(stride, height), part(whole.cropped(0, 0, width)) {
        part.translate(0, min_x);
        part.translate(1, min_y);
    }
};

template<typename T, typename F>
void check_sums(F run, int width, int height, int stride, int in_min, int out_min) {
    Rows<T> in(width, height, stride, in_min, -2), out(width, height, stride, out_min, -2);
    fill(in.part);
    expect_success(run(in.part, out.part), out.part);
    const auto at = [&](int x, int y) {
        return in.part(std::clamp(x, in_min, in_min + width - 1), std::clamp(y, -2, height - 3));
    };
    out.part.for_each_element([&](int x, int y) {
        T sum = 0;
        for (int dy = -1; dy <= 1; dy++) {
            T row = T(T(at(x - 1, y + dy) + at(x, y + dy)) + at(x + 1, y + dy));
            sum = T(sum + row);
        }
        ASSERT_EQ(out.part(x, y), sum)
            << x << " " << y << ", width " << width << ", height " << height << ", stride "
            << stride << ", mins " << in_min << " and " << out_min;
    });
}

template<typename T, typename F>
void check_sizes(F run) {
    for (const int width : {16, 23, 64, 65, 500}) {
        for (const int height : {3, 7, 41}) {
            check_sums<T>(run, width, height, width, 0, 0);
            check_sums<T>(run, width, height, (width + 15) / 16 * 16, -16, 0);
            check_sums<T>(run, width, height, (width + 15) / 16 * 16 + 16, -5, -2);
        }
    }
}

GPU_TEST(wide_u8, check_sizes<uint8_t>)
GPU_TEST(wide_u16, check_sizes<uint16_t>)
GPU_TEST(wide_i32, check_sizes<int32_t>)

}  // namespace
