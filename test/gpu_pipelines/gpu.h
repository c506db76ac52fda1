// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Running a Func on the GPU that tests have, and comparing with a function of the coordinates; its
// PTX, which needs no GPU.
#pragma once

#include <calotype/calotype.h>

#include "support/file.h"

#include <gtest/gtest.h>

#include <string>

namespace calotype::test {

/// The target of CT_JIT_TARGET, or the host with OpenCL if that has no GPU.
inline Target gpu_target() {
    Target t = get_jit_target_from_environment();
    return t.has_gpu_feature() ? t : t.with_feature(Target::OpenCL);
}

/// False where there is no such device.
inline bool has_gpu() {
    static const bool found = host_supports_target_device(gpu_target());
    return found;
}

/// The kernels of f for CUDA.
inline std::string
ptx_of(Func f, const Target &target = Target("x86-64-linux-cuda-cuda_capability_80-no_runtime")) {
    const internal::TemporaryDirectory folder;
    const std::string file = folder.path() + "/f.ptx";
    f.compile_to({{OutputFileType::ptx, file}}, f.infer_arguments(), "f", target);
    return internal::read_file(file);
}

inline int count(const std::string &text, const std::string &what) {
    int n = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
        n++;
    }
    return n;
}

/// want(x, y) for all elements of f over width x height.
template<typename T, typename F>
void expect_values(Func f, int width, int height, F want) {
    Buffer<T> result = f.realize({width, height}, gpu_target());
    result.copy_to_host();
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            ASSERT_EQ(result(x, y), T(want(x, y))) << "at " << x << ", " << y;
        }
    }
}

}  // namespace calotype::test

#define REQUIRE_GPU()                                                                              \
    if (!::calotype::test::has_gpu()) {                                                            \
        GTEST_SKIP() << "no device for " << ::calotype::test::gpu_target().to_string();            \
    }
