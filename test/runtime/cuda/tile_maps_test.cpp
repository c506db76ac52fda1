// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What generated code tells the driver of buffers that kernels copy rectangles from. The fake driver
// writes down what it was asked for: type, address, extent and box of each dimension, strides in
// bytes.
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
    int describe(int width, int height, int dimension = 1) {
        return calotype_cuda_describe_tiles(nullptr, &matrix, width, height, dimension, map);
    }
    void make_driver_known() {
        ASSERT_NE(0, calotype_cuda_can_run(0));
    }
};

TEST_F(CudaTileMaps, WhatTheDriverIsTold) {
    make_driver_known();
    EXPECT_EQ(0, describe(64, 256));
    EXPECT_EQ((Words{1, 0x10000, 100, 64, 40, 256, 256}), Words(map, map + 7));
    matrix.type = {calotype_type_int, 8, 1};
    EXPECT_EQ(0, describe(128, 16));
    EXPECT_EQ((Words{0, 0x10000, 100, 128, 40, 16, 128}), Words(map, map + 7));
    matrix.type = {calotype_type_float, 32, 1};
    EXPECT_EQ(0, describe(32, 8));
    EXPECT_EQ((Words{2, 0x10000, 100, 32, 40, 8, 512}), Words(map, map + 7));
}

TEST_F(CudaTileMaps, OfSeveralDimensions) {
    make_driver_known();
    calotype_dimension_t more[6] = {
        {0, 64, 1, 0}, {0, 30, 64, 0}, {0, 20, 1920, 0}, {0, 2, 38400, 0}};
    matrix.dim = more;
    matrix.dimensions = 4;
    EXPECT_EQ(0, describe(64, 10, 2));
    EXPECT_EQ((Words{1, 0x10000, 64, 64, 30, 1, 20, 10, 2, 1, 128, 3840, 76800}),
              Words(map, map + 13));
    matrix.dimensions = 6;
    EXPECT_NE(0, describe(64, 10, 2));
    EXPECT_NE(std::string::npos, errors.take().find("6 dimensions, at most 5"));
}

TEST_F(CudaTileMaps, WhatTheDriverRefusesIsToldWithTheMatrix) {
    make_driver_known();
    matrix.device += 8;
    EXPECT_NE(0, describe(64, 64));
    const std::string text = errors.take();
    for (const char *part : {"cuTensorMapEncodeTiled", "elements of 16 bits",
                             "extents and strides 100 and 1, 40 and 128, and address 65544",
                             "multiples of 16 bytes"}) {
        EXPECT_NE(std::string::npos, text.find(part)) << text;
    }
    matrix.device -= 8;
    dims[1].stride = -128;
    EXPECT_NE(0, describe(64, 64));
    EXPECT_NE(std::string::npos, errors.take().find("40 and -128"));
    EXPECT_EQ(Words(16), Words(map, map + 16)) << "nothing is written";
}

}  // namespace
