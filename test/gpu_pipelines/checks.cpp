// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks of what happens in kernels, made before they are launched.
#include "gpu_pipelines/gpu.h"

namespace calotype::test {

namespace {

Var x("x"), y("y"), xi("xi"), yi("yi");

/// What was launched before an error may still run. A driver that compiles it on a thread of its own, as PoCL's does,
/// crashes if the process ends meanwhile.
void await_device() {
    Func last("last");
    last(x, y) = x + y;
    last.gpu_tile(x, y, xi, yi, 8, 8);
    Buffer<int> result = last.realize({8, 8}, gpu_target());
    result.copy_to_host();
}

std::string error_of(Func f, int width, int height, const Target &target = gpu_target()) {
    try {
        f.realize({width, height}, target);
    } catch (const RuntimeError &e) {
        const std::string error = e.what();
        await_device();
        return error;
    }
    return "none";
}

/// A row of g for each of 8 results, n elements and 7 more, in storage for 16.
struct Window {
    Param<int> n{"n"};
    Func g, f{"f"};

    Window(const std::string &name, bool of_the_thread) : g(name) {
        RDom r(0, n, "r");
        g(x, y) = x * 3 + y;
        f(x, y) = 0;
        f(x, y) += g(x + r, y);
        f.gpu_tile(x, y, xi, yi, 8, 8);
        f.update().gpu_tile(x, y, xi, yi, 8, 8);
        if (of_the_thread) {
            g.compute_at(f, xi).bound_storage(x, 16);
        } else {
            g.compute_at(f, x).bound_storage(x, 16).gpu_threads(x, y);
        }
    }
};

TEST(GpuChecks, storage_that_is_large_enough) {
    REQUIRE_GPU();
    for (bool of_the_thread : {false, true}) {
        Window w("window", of_the_thread);
        w.n.set(9);
        expect_values<int>(w.f, 24, 16, [](int u, int v) {
            int sum = 0;
            for (int i = 0; i < 9; i++) {
                sum += (u + i) * 3 + v;
            }
            return sum;
        });
    }
}

/// Kernels compute addresses in 32 bits.
TEST(GpuChecks, storage_on_the_device_alone_is_no_larger_than_on_the_host) {
    REQUIRE_GPU();
    Func g("huge"), f("f");
    g(x, y) = cast<uint8_t>(x * 3 + y * 5);
    f(x, y) = g(x * 1000, y * 700);
    g.compute_root().gpu_tile(x, y, xi, yi, 64, 4, TailStrategy::GuardWithIf);
    f.gpu_tile(x, y, xi, yi, 8, 8, TailStrategy::GuardWithIf);
    EXPECT_EQ("huge takes 2553703901 bytes, must take at most 2147483647", error_of(f, 65, 58));
}

TEST(GpuChecks, storage_that_is_too_small) {
    REQUIRE_GPU();
    Window shared("of_the_block", false);
    shared.n.set(10);
    EXPECT_EQ("storage of of_the_block is bounded to 16 in x, must be at least 17",
              error_of(shared.f, 24, 16));
    Window own("of_the_thread", true);
    own.n.set(17);
    EXPECT_EQ("storage of of_the_thread is bounded to 16 in x, must be at least 17",
              error_of(own.f, 24, 16));
}

TEST(GpuChecks, half_floats_on_a_device_without_them) {
    REQUIRE_GPU();
    if (!gpu_target().has_feature(Target::OpenCL)) {
        GTEST_SKIP() << "not OpenCL";
    }
    Func f("halves");
    f(x, y) = cast(Float(16), x + y) * 2;
    f.gpu_tile(x, y, xi, yi, 8, 8);
    const std::string error = error_of(f, 16, 8, gpu_target().with_feature(Target::CLHalf));
    if (error == "none") {
        GTEST_SKIP() << "the device has them";
    }
    const std::string why = "does not compile: the device has no cl_khr_fp16, which target feature "
                            "cl_half asks for";
    EXPECT_NE(error.find(why), std::string::npos) << error;
    EXPECT_EQ(error.find("clBuildProgram"), std::string::npos) << error;
}

}  // namespace

}  // namespace calotype::test
