// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The product of matrices that we ship, against plain C++: on the processor in all sizes, on a
// device in whole blocks of any depth.
#include <gtest/gtest.h>

#include <cmath>

#include <calotype/buffer.h>
#include <calotype/runtime.h>

#include "gemm_device.h"
#include "gemm_host.h"
#include "runtime/abi/kernel_cache.h"
#include "runtime/abi/runtime_cuda.h"

namespace {

using Matrix = calotype::Runtime::Buffer<float, 2>;

void fill(Matrix &m, uint32_t state) {
    m.for_each_value([&](float &v) {
        state = state * 1664525u + 1013904223u;
        v = float(state >> 8) * 0x1p-24f - 0.5f;
    });
    m.set_host_dirty();
}

/** Of an output `width` x `height`, over `depth`. */
template<typename F>
void check_product(F gemm, int width, int height, int depth) {
    SCOPED_TRACE(std::to_string(width) + " x " + std::to_string(height) + " x " +
                 std::to_string(depth));
    Matrix a(depth, height), b(width, depth), output(width, height);
    fill(a, 1);
    fill(b, 2);
    ASSERT_EQ(gemm(a, b, output), 0) << calotype_last_error()->log;
    ASSERT_EQ(output.copy_to_host(), 0);
    output.for_each_element([&](int x, int y) {
        double sum = 0;
        for (int k = 0; k < depth; k++) {
            sum += double(a(k, y)) * double(b(x, k));
        }
        ASSERT_NEAR(output(x, y), sum, 1e-5 * depth) << x << " " << y;
    });
}

TEST(Gemm, in_all_sizes_on_the_processor) {
    for (int width : {1, 15, 16, 33, 64, 131}) {
        for (int height : {1, 6, 7, 50}) {
            for (int depth : {1, 4, 31}) {
                check_product(gemm_host, width, height, depth);
            }
        }
    }
}

TEST(Gemm, in_any_depth_on_a_device) {
    if (!calotype_cuda_can_run(90)) {
        GTEST_SKIP() << "no CUDA device";
    }
    for (int depth : {1, 15, 16, 17, 32, 50, 100}) {
        check_product(gemm_device, 128, 128, depth);
    }
    check_product(gemm_device, 384, 256, 40);
}

}  // namespace
