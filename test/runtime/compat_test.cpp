// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs written with Halide's names: that this compiles is most of the test.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include "runtime/compat/HalideBuffer.h"
#include "runtime/compat/HalideRuntimeCuda.h"
#include "runtime/compat/halide_benchmark.h"
#include "runtime/compat/halide_image.h"
#include "runtime/compat/halide_image_io.h"
#include "runtime/compat/halide_malloc_trace.h"
#include "runtime/compat/halide_thread_pool.h"
#include "runtime/compat/halide_trace_config.h"

namespace {

using Halide::Runtime::Buffer;

int blur_like(halide_buffer_t *in, struct halide_buffer_t *out) {
    if (in->is_bounds_query()) {
        in->dim[0].extent = out->dim[0].extent + 2;
        return halide_error_code_success;
    }
    if (in->type != halide_type_of<uint8_t>()) {
        return halide_error_bad_type(nullptr, "input buffer in", in->type.as_u32(),
                                     halide_type_t(halide_type_uint, 8).as_u32());
    }
    return 0;
}

int errors;

int size_of(halide_type_t type) {
    switch (type) {
    case halide_type_t(halide_type_uint, 8):
        return 1;
    case halide_type_t(halide_type_float, 32):
        return 4;
    default:
        return 0;
    }
}

TEST(Compat, ASwitchHasTypesAsItsCases) {
    EXPECT_EQ(1, size_of(halide_type_of<uint8_t>()));
    EXPECT_EQ(4, size_of(halide_type_of<float>()));
    EXPECT_EQ(0, size_of(halide_type_of<int>()));
}

TEST(Compat, RunsAProgramWithTheOldNames) {
    Buffer<uint8_t> in(nullptr, 1), out(10);
    EXPECT_EQ(0, blur_like(in, out));
    EXPECT_EQ(12, in.dim(0).extent());
    in.allocate();
    in.fill(1);
    EXPECT_EQ(0, blur_like(in, out));
    Buffer<float, 1> wrong(10);
    auto old = halide_set_error_handler([](void *, const char *) { errors++; });
    EXPECT_EQ(halide_error_code_bad_type, blur_like(wrong, out));
    halide_set_error_handler(old);
    EXPECT_EQ(1, errors);
    EXPECT_EQ(halide_type_of<float>(), wrong.static_halide_type());
    EXPECT_TRUE(decltype(wrong)::has_static_halide_type);
    EXPECT_GT(halide_get_num_threads(), 0);
    void *p = halide_malloc(nullptr, 10);
    halide_free(nullptr, p);
    halide_mutex mutex = {};
    halide_mutex_lock(&mutex);
    halide_mutex_unlock(&mutex);
    const halide_dimension_t dim(0, 4, 1);
    EXPECT_EQ(4, dim.extent);
    halide_filter_metadata_t metadata = {};
    EXPECT_EQ(nullptr, metadata.arguments);
    const HalideFunctionInfo::ArgumentInfo info = {"in", HalideFunctionInfo::InputBuffer, 2,
                                                   halide_type_of<int>()};
    EXPECT_EQ("in", info.name);
}

TEST(Compat, HasTheTools) {
    const double t = Halide::Tools::benchmark(2, 2, [] {});
    EXPECT_GE(t, 0);
    Halide::Tools::BenchmarkConfig config;
    config.max_time = config.min_time = 0.01;
    EXPECT_GE(Halide::Tools::benchmark([] {}, config).wall_time, 0);
    const std::string name =
        (std::filesystem::temp_directory_path() / "calotype_compat.png").string();
    Halide::Tools::Image<uint8_t> image(4, 4, 3);
    image.fill(7);
    Halide::Tools::convert_and_save_image(image, name);
    Buffer<uint8_t> back = Halide::Tools::load_image(name);
    EXPECT_TRUE(back.all_equal(7));
    Buffer<float> converted = Halide::Tools::load_and_convert_image(name);
    EXPECT_EQ(3, converted.channels());
    std::filesystem::remove(name);
}

std::string contents(const std::filesystem::path &path) {
    std::ifstream in(path);
    return std::string(std::istreambuf_iterator<char>(in), {});
}

/** All that a pattern's first group finds in a text. */
std::set<std::string> find_all(const std::string &text, const char *pattern) {
    std::set<std::string> found;
    const std::regex regex(pattern);
    for (std::sregex_iterator i(text.begin(), text.end(), regex), end; i != end; ++i) {
        found.insert((*i)[1]);
    }
    return found;
}

TEST(Compat, HandlersOfCudaMayTakeVoidPointers) {
    static_assert(HALIDE_VERSION_MAJOR * 10000 == HALIDE_VERSION && HALIDE_VERSION_MINOR == 0);
    const halide_cuda_acquire_context_t acquire = [](void *, void **context, bool) {
        *context = nullptr;
        return -7;
    };
    const halide_cuda_get_stream_t get = [](void *, void *, void **stream) {
        *stream = nullptr;
        return -8;
    };
    const halide_cuda_release_context_t release = [](void *) {
        return -9;
    };
    halide_set_cuda_acquire_context(acquire);
    halide_set_cuda_get_stream(get);
    halide_set_cuda_release_context(release);
    CUctx_st *context = nullptr;
    CUstream_st *stream = nullptr;
    EXPECT_EQ(-7, halide_cuda_acquire_context(nullptr, &context, true));
    EXPECT_EQ(-8, halide_cuda_get_stream(nullptr, context, &stream));
    EXPECT_EQ(-9, halide_cuda_release_context(nullptr));
    EXPECT_EQ(acquire, halide_set_cuda_acquire_context([](void *, void **, bool) { return -10; }));
    EXPECT_EQ(-10, halide_cuda_acquire_context(nullptr, &context, true));
    halide_set_cuda_acquire_context([](void *, CUctx_st **, bool) { return -11; });
    EXPECT_EQ(-11, halide_cuda_acquire_context(nullptr, &context, true));
    halide_set_cuda_acquire_context(NULL);
    halide_set_cuda_get_stream(0);
    halide_set_cuda_acquire_context(nullptr);
    halide_set_cuda_get_stream(nullptr);
    halide_set_cuda_release_context(nullptr);
}

TEST(Compat, HasEveryFunctionErrorAndFeature) {
    const std::filesystem::path runtime = CALOTYPE_SOURCE_DIR "/runtime";
    std::string aliases, declared;
    for (const auto &file : std::filesystem::directory_iterator(runtime / "compat")) {
        aliases += contents(file.path());
    }
    aliases = std::regex_replace(aliases, std::regex(" *\\\\\n *"), " ");
    // The kernel cache and what goes with it have no counterpart there.
    const std::set<std::string> ours_alone = {
        "device_context.h", "device_memory.h", "kernel_cache.h", "kernels.h",
        "linkables.h",      "matrix_tiles.h",  "nrt.h",          "recording.h"};
    for (const auto &file : std::filesystem::directory_iterator(runtime / "abi")) {
        if (!ours_alone.count(file.path().filename())) {
            declared += contents(file.path());
        }
    }
    std::set<std::string> expected =
        find_all(declared, "\nextern [^;(]*\\bcalotype_([a-z0-9_]+)\\(");
    for (const std::string &name : find_all(declared, "CALOTYPE_ERROR_CODE\\(([a-z_]+), -?[0-9]")) {
        expected.insert("error_code_" + name);
    }
    for (const std::string &name :
         find_all(declared, "CALOTYPE_TARGET_FEATURE\\(([a-z0-9_]+), [0-9]")) {
        expected.insert("target_feature_" + name);
    }
    ASSERT_GT(expected.size(), 200u);
    // Names are the same but for underscores, where ours follow the target's text.
    auto plain = [](std::string name) {
        name.erase(std::remove(name.begin(), name.end(), '_'), name.end());
        return name;
    };
    std::set<std::string> covered;
    for (const std::string &line : find_all(aliases, "#define (halide_\\w+ calotype_\\w+)\n")) {
        const size_t space = line.find(' ');
        const std::string theirs = line.substr(7, space - 7), ours = line.substr(space + 10);
        EXPECT_EQ(plain(theirs), plain(ours));
        covered.insert(ours);
    }
    for (const std::string &name : expected) {
        EXPECT_TRUE(covered.count(name)) << "calotype_" << name;
    }
}

TEST(Compat, TagsForTheViewerOfTraces) {
    Halide::Trace::FuncConfig func;
    func.pos = {10, 20};
    func.strides = {{1, 0}, {0, 1}};
    func.min = 0;
    func.max = 255;
    func.labels = {{"two words", {3, 4}, 5}};
    EXPECT_EQ(func.to_trace_tag(), "htv_func_config: -1 -1 -1 10 20 2 1 0 0 1  -2 0 255 "
                                   "1 two\\x20words 3 4 5 1  -1 4294967295");
    Halide::Trace::GlobalConfig global;
    global.timestep = 7;
    EXPECT_EQ(global.to_trace_tag(),
              "htv_global_config: 1920 1080 1 2 250 7 0 -1 -1 32 32 4294967295");
}

TEST(Compat, AllocationsOfPipelinesArePrinted) {
    testing::internal::CaptureStdout();
    Halide::Tools::halide_enable_malloc_trace();
    halide_free(nullptr, halide_malloc(nullptr, 100));
    halide_set_custom_malloc(nullptr);
    halide_set_custom_free(nullptr);
    const std::string printed = testing::internal::GetCapturedStdout();
    EXPECT_NE(printed.find("halide_malloc => ["), std::string::npos) << printed;
    EXPECT_NE(printed.find("# size:100\n"), std::string::npos) << printed;
    EXPECT_NE(printed.find("halide_free => "), std::string::npos) << printed;
}

}  // namespace
