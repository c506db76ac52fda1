// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pipelines on a device, in this process. They run on whatever OpenCL there is (PoCL is enough);
// without one the tests that need a device are skipped.
#include <gtest/gtest.h>

#include "driver/jit_handlers.h"
#include "harness/expect_error.h"
#include "lang/language.h"

namespace calotype {
namespace {

Var x("x"), y("y"), xi("xi"), yi("yi");

class Gpu : public testing::Test {
protected:
    void SetUp() override {
        if (!host_supports_target_device(target)) {
            GTEST_SKIP() << "no OpenCL device";
        }
    }
    Target target = get_host_target().with_feature(Target::OpenCL);
};

TEST_F(Gpu, OneKernel) {
    Buffer<float> in(70, 50);
    in.for_each_element([&](int i, int j) { in(i, j) = float(i * 100 + j); });
    Func f("f");
    f(x, y) = in(x, y) * 2;
    f.gpu_tile(x, y, xi, yi, 8, 8);
    Buffer<float> out = f.realize({70, 50}, target);
    for (int j = 0; j < 50; j++) {
        for (int i = 0; i < 70; i++) {
            ASSERT_EQ(out(i, j), float(i * 100 + j) * 2) << i << ", " << j;
        }
    }
}

}  // namespace
}  // namespace calotype
