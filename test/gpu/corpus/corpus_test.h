// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One test a pipeline and API: the same check on what was compiled for CUDA and for OpenCL.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include <calotype/buffer.h>
#include <calotype/runtime.h>

#include "runtime/abi/kernel_cache.h"
#include "runtime/abi/runtime_cuda.h"
#include "runtime/abi/runtime_opencl.h"

namespace calotype_test {

template<typename T, int D>
using Image = calotype::Runtime::Buffer<T, D>;

inline bool has_cuda() {
    return calotype_cuda_can_run(90) != 0;
}

bool has_opencl();

/** Fill with numbers that look random. */
template<typename T, int D>
void fill(Image<T, D> &image, uint32_t seed = 1) {
    uint32_t state = seed * 2654435761u + 12345;
    image.for_each_value([&](T &value) {
        state = state * 1664525u + 1013904223u;
        value = T(state >> 20);
    });
    image.set_host_dirty();
}

/** Run, then bring the output back. */
template<typename Out, typename... Args>
void expect_success(int code, Out &out) {
    ASSERT_EQ(code, 0) << calotype_last_error()->log;
    ASSERT_EQ(out.copy_to_host(), 0);
}

}  // namespace calotype_test

/** GPU_TEST(name, check): check(name_cuda) and check(name_opencl). */
#define GPU_TEST(name, check)                                                                      \
    TEST(Cuda, name) {                                                                             \
        if (!calotype_test::has_cuda()) {                                                          \
            GTEST_SKIP() << "no CUDA device";                                                      \
        }                                                                                          \
        check(name##_cuda);                                                                        \
    }                                                                                              \
    TEST(OpenCl, name) {                                                                           \
        if (!calotype_test::has_opencl()) {                                                        \
            GTEST_SKIP() << "no OpenCL device";                                                    \
        }                                                                                          \
        check(name##_opencl);                                                                      \
    }
