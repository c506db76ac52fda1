// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What cannot be in a texture, and what is none in spite of its schedule.
#include <calotype/calotype.h>

#include <string>
#include <vector>

#include "harness/expect_error.h"
#include "harness/warnings.h"

#include <gtest/gtest.h>

namespace calotype {
namespace {

Var x("x"), y("y"), z("z"), w("w"), xi("xi"), yi("yi");

void lower_for(const char *features, Func f) {
    f.compile_to_module({}, "p", Target(std::string("x86-64-linux-") + features));
}

/// A Func that reads `f`, a texture, in a kernel.
Func reader_of(Func f, const std::string &name, const std::vector<Expr> &at) {
    Func g(name);
    g(x, y) = cast<int>(f(at));
    f.compute_root().store_in(MemoryType::GPUTexture);
    g.gpu_tile(x, y, xi, yi, 8, 8);
    return g;
}

TEST(GpuTextures, four_dimensions) {
    Func f("deep");
    f(x, y, z, w) = x + y + z + w;
    EXPECT_COMPILE_ERROR(lower_for("opencl", reader_of(f, "of_deep", {x, y, x, y})),
                         "deep is stored in gpu_texture with 4 dimensions, but images of OpenCL "
                         "have at most 3");
}

TEST(GpuTextures, elements_that_no_image_holds) {
    const std::string rest = ", but images of OpenCL hold integers of 8, 16 and 32 bits, float16, "
                             "bfloat16 and float32";
    Func wide("wide"), precise("precise");
    wide(x, y) = cast<int64_t>(x + y);
    precise(x, y) = cast<double>(x + y);
    EXPECT_COMPILE_ERROR(lower_for("opencl", reader_of(wide, "of_wide", {x, y})),
                         "wide is stored in gpu_texture with elements of int64" + rest);
    EXPECT_COMPILE_ERROR(lower_for("opencl-cl_doubles", reader_of(precise, "of_precise", {x, y})),
                         "precise is stored in gpu_texture with elements of float64" + rest);
}

TEST(GpuTextures, an_input_is_checked_too) {
    ImageParam image(UInt(64), 2, "long_input");
    Func g("of_long_input");
    g(x, y) = cast<int>(image(x, y));
    image.store_in(MemoryType::GPUTexture);
    g.gpu_tile(x, y, xi, yi, 8, 8);
    EXPECT_COMPILE_ERROR(g.compile_to_module({image}, "p", Target("x86-64-linux-opencl")),
                         "long_input is stored in gpu_texture with elements of uint64, but images "
                         "of OpenCL hold integers of 8, 16 and 32 bits, float16, bfloat16 and "
                         "float32");
}

TEST(GpuTextures, read_and_written_in_one_kernel) {
    Func f("summed");
    f(x, y) = x;
    f(x, y) += y;
    f.store_in(MemoryType::GPUTexture).gpu_tile(x, y, xi, yi, 8, 8);
    f.update().gpu_tile(x, y, xi, yi, 8, 8);
    EXPECT_COMPILE_ERROR(lower_for("opencl", f),
                         "kernel summed_s1 reads and writes summed, which is stored in "
                         "gpu_texture: in OpenCL a kernel does only one of both to an image");
}

TEST(GpuTextures, made_inside_of_a_kernel) {
    Func f("inner"), g("of_inner");
    f(x, y) = x + y;
    g(x, y) = f(x, y) + f(x + 1, y);
    g.gpu_tile(x, y, xi, yi, 8, 8);
    f.compute_at(g, x).store_in(MemoryType::GPUTexture).gpu_threads(x, y);
    EXPECT_COMPILE_ERROR(lower_for("opencl", g),
                         "storage of inner cannot be a texture: it is made inside of a kernel");
}

TEST(GpuTextures, kernels_for_cuda_have_none_and_say_so_once) {
    Func f("plain");
    f(x, y) = x + y;
    const Func g = reader_of(f, "of_plain", {x, y});
    f.gpu_tile(x, y, xi, yi, 8, 8);
    Warnings warnings;
    lower_for("cuda", g);
    EXPECT_EQ(warnings.texts,
              std::vector<std::string>{"pipeline p: plain is stored in gpu_texture, which kernels "
                                       "for CUDA do not use: it is in device memory"});
    warnings.texts.clear();
    lower_for("opencl", g);
    EXPECT_EQ(warnings.texts, std::vector<std::string>{});
}

TEST(GpuStorage, shared_by_no_block_is_a_warning) {
    Func f("at_root");
    f(x, y) = x + y;
    const Func g = reader_of(f, "of_at_root", {x, y});
    f.compute_root().store_in(MemoryType::GPUShared);
    Warnings warnings;
    lower_for("cuda", g);
    EXPECT_EQ(warnings.texts,
              std::vector<std::string>{"func at_root is stored in gpu_shared, but outside of all "
                                       "block loops: it is stored as if that was not said"});
}

}  // namespace
}  // namespace calotype
