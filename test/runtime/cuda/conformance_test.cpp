// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The conformance suite on the fake CUDA driver.
#include <cstdlib>

#include "harness/fake_cuda/fake_cuda.h"
#include "runtime/conformance/cuda_device.h"

namespace calotype_test {

namespace {

class FakeCudaDevice : public CudaDevice {
public:
    FakeCudaDevice() : CudaDevice(CALOTYPE_FAKE_CUDA) {
        setenv("CT_NVJITLINK", "off", 1);
        EXPECT_EQ("", why_not());
        for (const ConformanceKernel &kernel : conformance_kernels()) {
            fake_cuda::define_kernel(kernel.name, kernel.function);
        }
    }
    ~FakeCudaDevice() override {
        EXPECT_EQ(0, fake_cuda::live_allocations());
        EXPECT_EQ(0, fake_cuda::live_modules());
        EXPECT_EQ(0, fake_cuda::misuse());
        fake_cuda::reset();
        unsetenv("CT_NVJITLINK");
    }
};

std::unique_ptr<ConformanceDevice> make_device() {
    fake_cuda::reset();
    return std::make_unique<FakeCudaDevice>();
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(FakeCuda, Conformance, ::testing::Values(make_device));

}  // namespace calotype_test
