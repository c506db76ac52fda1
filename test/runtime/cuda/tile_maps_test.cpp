// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What generated code tells the driver of matrices that kernels copy rectangles from. The fake
// driver writes down what it was asked for: type, address, extents, stride in bytes, box.
#include <string>
#include <vector>

#include "runtime/cuda/fixture.h"

namespace {

using calotype_test::FakeCuda;
using Words = std::vector<uint64_t>;

class CudaTileMaps : public FakeCuda {
protected:
    calotype_dimension_t dims[2] = {{3, 100, 1, 0}, {-5, 40, 128, 0}};
    calotype_buffer_t matrix = {};
    uint64_t map[16] = {};

    CudaTileMaps() {
        matrix.device = 0x10000;
        matrix.type = {calotype_type_float, 16, 1};
        matrix.dimensions = 2;
        matrix.dim = dims;
    }
    int describe(int width, int height) {
        return calotype_cuda_describe_tiles(nullptr, &matrix, width, height, map);
    }
    void make_driver_known() {
        ASSERT_NE(0, calotype_cuda_can_run(0));
    }
};

TEST_F(CudaTileMaps, WhatTheDriverIsTold) {
    make_driver_known();
    EXPECT_EQ(0, describe(64, 256));
    EXPECT_EQ((Words{1, 0x10000, 100, 40, 256, 64, 256}), Words(map, map + 7));
    matrix.type = {calotype_type_int, 8, 1};
    EXPECT_EQ(0, describe(128, 16));
    EXPECT_EQ((Words{0, 0x10000, 100, 40, 128, 128, 16}), Words(map, map + 7));
    matrix.type = {calotype_type_float, 32, 1};
    EXPECT_EQ(0, describe(32, 8));
    EXPECT_EQ((Words{2, 0x10000, 100, 40, 512, 32, 8}), Words(map, map + 7));
}

TEST_F(CudaTileMaps, WhatTheDriverRefusesIsToldWithTheMatrix) {
    make_driver_known();
    matrix.device += 8;
    EXPECT_NE(0, describe(64, 64));
    const std::string text = errors.take();
    for (const char *part : {"cuTensorMapEncodeTiled", "100 x 40 elements of 16 bits",
                             "strides 1 and 128 at address 65544", "multiples of 16 bytes"}) {
        EXPECT_NE(std::string::npos, text.find(part)) << text;
    }
    matrix.device -= 8;
    dims[1].stride = -128;
    EXPECT_NE(0, describe(64, 64));
    EXPECT_NE(std::string::npos, errors.take().find("strides 1 and -128"));
    EXPECT_EQ(Words(16), Words(map, map + 16)) << "nothing is written";
}

}  // namespace
