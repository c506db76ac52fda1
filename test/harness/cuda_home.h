// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdlib>
#include <string>

namespace calotype::test {

/// CUDA_HOME for the time of a test.
class CudaHome {
public:
    explicit CudaHome(const char *folder) {
        const char *before = std::getenv("CUDA_HOME");
        had_ = before != nullptr;
        before_ = before ? before : "";
        setenv("CUDA_HOME", folder, 1);
    }
    ~CudaHome() {
        had_ ? setenv("CUDA_HOME", before_.c_str(), 1) : unsetenv("CUDA_HOME");
    }

private:
    bool had_;
    std::string before_;
};

}  // namespace calotype::test
