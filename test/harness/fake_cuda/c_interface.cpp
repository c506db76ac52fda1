// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fake_cuda.h for tests that are not written in C++.
#include "harness/fake_cuda/fake_cuda.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED long fake_cuda_calls(const char *name) {
    return fake_cuda::calls(name);
}

EXPORTED void fake_cuda_fail(const char *name, int code) {
    fake_cuda::fail(name, code);
}

EXPORTED void fake_cuda_set_devices(int count) {
    fake_cuda::set_devices(std::vector<int>(size_t(count), 132));
}

EXPORTED void fake_cuda_define_kernel(const char *name, calotype_test::FakeKernel kernel) {
    fake_cuda::define_kernel(name, kernel);
}

EXPORTED int fake_cuda_misuse() {
    return fake_cuda::misuse();
}
