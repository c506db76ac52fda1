// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Libraries with kernels, made ahead of time and linked into this program: the device is used where
// there is one, the processor where there is none or where that is asked for.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include <calotype/buffer.h>
#include <calotype/runtime/abi/kernel_cache.h>
#include <calotype/runtime/abi/runtime_cuda.h>
#include <calotype/runtime/abi/runtime_opencl.h>
#include <calotype/runtime/abi/target_features.h>

#include "blur_cuda.h"
#include "blur_device.h"
#include "blur_opencl.h"

namespace {

using Image = calotype::Runtime::Buffer<uint8_t, 2>;
using Function = int(calotype_buffer_t *, calotype_buffer_t *);

Image make_input() {
    Image in(150, 40);
    in.for_each_element([&](int x, int y) { in(x, y) = uint8_t(x * 11 + y * 7 + x * y); });
    return in;
}

int count_wrong(const Image &in, const Image &out, int radius) {
    const int area = (2 * radius + 1) * (2 * radius + 1);
    int wrong = 0;
    out.for_each_element([&](int x, int y) {
        int sum = area / 2;
        for (int j = -radius; j <= radius; j++) {
            for (int i = -radius; i <= radius; i++) {
                sum +=
                    in(std::clamp(x + i, 0, in.width() - 1), std::clamp(y + j, 0, in.height() - 1));
            }
        }
        wrong += out(x, y) != sum / area;
    });
    return wrong;
}

/// Runs the function; whether it ran on a device.
bool runs_on_device(Function *function, int radius) {
    Image in = make_input(), out(150, 40);
    EXPECT_EQ(function(in, out), 0);
    const bool on_device = out.device_dirty();
    EXPECT_EQ(out.copy_to_host(), 0);
    EXPECT_EQ(count_wrong(in, out, radius), 0);
    return on_device;
}

std::string read(const char *path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// While it lives, choices count the feature as missing.
class Disabled {
public:
    explicit Disabled(int feature) : feature_(feature) {
        EXPECT_EQ(calotype_disable_target_feature(feature_, 1), 0);
    }
    ~Disabled() {
        EXPECT_EQ(calotype_disable_target_feature(feature_, 0), 0);
    }

private:
    int feature_;
};

TEST(AotGpu, TheDeviceIsUsedWhereThereIsOne) {
    EXPECT_EQ(runs_on_device(blur_opencl, 3), calotype_opencl_can_run() != 0);
    EXPECT_EQ(runs_on_device(blur_cuda, 1), calotype_cuda_can_run(80) != 0);
}

TEST(AotGpu, TheProcessorWhereThatIsAskedFor) {
    Disabled opencl(calotype_target_feature_opencl), cuda(calotype_target_feature_cuda);
    EXPECT_FALSE(runs_on_device(blur_opencl, 3));
    EXPECT_FALSE(runs_on_device(blur_cuda, 1));
}

TEST(AotGpu, WhichFeatureIsMissingIsSaid) {
    uint64_t words[2] = {};
    for (const int bit :
         {calotype_target_feature_cuda, calotype_target_feature_cuda_capability_80}) {
        words[bit / 64] |= uint64_t(1) << bit % 64;
    }
    if (calotype_cuda_can_run(80)) {
        EXPECT_EQ(calotype_missing_target_feature(2, words), -1);
        Disabled newest(calotype_target_feature_cuda_capability_80);
        EXPECT_EQ(calotype_missing_target_feature(2, words),
                  calotype_target_feature_cuda_capability_80);
    } else {
        EXPECT_STREQ(calotype_target_feature_name(calotype_missing_target_feature(2, words)),
                     "cuda");
    }
}

TEST(AotGpu, OneModuleIsLoadedOnceAndHeldDuringCalls) {
    if (!calotype_opencl_can_run()) {
        GTEST_SKIP() << "no OpenCL device";
    }
    ASSERT_TRUE(runs_on_device(blur_device, 1));
    calotype_stats before = {}, after = {};
    before.size = after.size = sizeof before;
    ASSERT_EQ(calotype_get_stats(0, &before), CALOTYPE_OK);
    for (int i = 0; i < 3; i++) {
        EXPECT_TRUE(runs_on_device(blur_device, 1));
    }
    ASSERT_EQ(calotype_get_stats(0, &after), CALOTYPE_OK);
    EXPECT_EQ(after.hits, before.hits + 3);
    EXPECT_EQ(after.loads, before.loads);
    EXPECT_EQ(after.compiles, before.compiles);
    EXPECT_EQ(after.holds, 0u);
}

TEST(AotGpu, ABoundsQueryUsesNoDevice) {
    Image out(20, 10);
    calotype::Runtime::Buffer<uint8_t, 2> in(nullptr, 0, 0);
    EXPECT_EQ(blur_opencl(in, out), 0);
    EXPECT_FALSE(out.has_device_allocation());
    EXPECT_GT(in.width(), 0);
}

TEST(AotGpu, OutputsShowTheKernels) {
    if (!std::ifstream(OPENCL_CODE)) {
        GTEST_SKIP() << "this program was built on another machine";
    }
    EXPECT_NE(read(OPENCL_CODE).find(" output_s0("), std::string::npos);
    EXPECT_NE(read(OPENCL_STMT).find("kernel<opencl> output_s0("), std::string::npos);
    const std::string report = read(OPENCL_REPORT);
    EXPECT_NE(report.find("opencl: 1 kernels"), std::string::npos) << report;
    EXPECT_NE(report.find("image: OpenCL C"), std::string::npos) << report;
    EXPECT_NE(read(CUDA_PTX).find(".entry output_s0"), std::string::npos);
    const std::string cuda = read(CUDA_REPORT);
    EXPECT_NE(cuda.find("image: PTX sm_"), std::string::npos) << cuda;
    // Registers are known where a toolkit made a cubin.
    EXPECT_EQ(cuda.find("cubin sm_") != std::string::npos,
              cuda.find("output_s0") != std::string::npos)
        << cuda;
}

}  // namespace
