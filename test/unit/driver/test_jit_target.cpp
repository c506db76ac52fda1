// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The target of pipelines that are compiled in process.
#include <gtest/gtest.h>

#include <cstdlib>

#include "target/target.h"

namespace calotype {
namespace {

// In a process of its own: a driver is loaded once.
TEST(JitTarget, CudaAloneHasTheCapabilityOfTheDevice) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto capability = [](const char *target) {
        setenv("CT_CUDA_DRIVER_LIBRARY", CALOTYPE_FAKE_CUDA, 1);
        setenv("CT_JIT_TARGET", target, 1);
        exit(get_jit_target_from_environment().get_cuda_capability_lower_bound());
    };
    EXPECT_EXIT(capability("host-cuda"), testing::ExitedWithCode(90), "");
    EXPECT_EXIT(capability("host-cuda-cuda_capability_61"), testing::ExitedWithCode(61), "");
}

}  // namespace
}  // namespace calotype
