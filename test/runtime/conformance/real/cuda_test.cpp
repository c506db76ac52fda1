// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The conformance suite on a real CUDA driver; skipped where there is none.
#include "runtime/conformance/cuda_device.h"

namespace calotype_test {

namespace {

std::unique_ptr<ConformanceDevice> make_device() {
    return std::make_unique<CudaDevice>(nullptr);
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Cuda, Conformance, ::testing::Values(make_device));

}  // namespace calotype_test
