// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Toolkits that have only some of the tools, and files that are none of theirs.
#include <gtest/gtest.h>

#include <filesystem>

#include "codegen/linkables/choice.h"
#include "codegen/linkables/linked.h"
#include "codegen/nvptx/cuda_source.h"
#include "codegen/nvptx/nvjitlink.h"
#include "harness/cuda_home.h"
#include "support/file.h"

namespace calotype::internal {
namespace {

const char *const source = "extern \"C\" __device__ int twice(int x) { return 2 * x; }\n";

TEST(Toolkit, CudaIsCompiledByNvrtcOrNvcc) {
    const CudaToolkit found = find_cuda_toolkit();
    for (bool has_nvrtc : {true, false}) {
        CudaToolkit toolkit = found;
        if (!has_nvrtc) {
            toolkit.nvrtc.clear();
        }
        if (has_nvrtc ? toolkit.nvrtc.empty() : toolkit.nvcc.empty()) {
            GTEST_SKIP() << "no CUDA toolkit on this machine";
        }
        EXPECT_TRUE(can_compile_cuda(toolkit));
        EXPECT_EQ(compilable({90, 0}, toolkit), (Capability{90, 0}));
        EXPECT_EQ(compilable({50, 0}, toolkit), (Capability{75, 0}));
        const auto ptx = compile_cuda(source, "a/b.cu", CudaForm::Ptx, {90, 0}, toolkit);
        EXPECT_TRUE(ptx.ok) << ptx.log;
        EXPECT_NE(ptx.bytes.find(".visible .func"), std::string::npos);
        const auto lto_ir = compile_cuda(source, "a/b.cu", CudaForm::LtoIr, {90, 0}, toolkit);
        EXPECT_TRUE(lto_ir.ok) << lto_ir.log;
        EXPECT_EQ(lto_ir.bytes.substr(0, 4), "\xed\x43\x4e\x7f");
        const auto wrong = compile_cuda("wrong", "a/b.cu", CudaForm::Ptx, {90, 0}, toolkit);
        EXPECT_FALSE(wrong.ok);
        EXPECT_NE(wrong.log.find("error"), std::string::npos) << wrong.log;
    }
    CudaToolkit none;
    EXPECT_FALSE(can_compile_cuda(none));
    none.nvcc = "/nowhere/nvcc";
    EXPECT_EQ(compile_cuda(source, "b.cu", CudaForm::Ptx, {90, 0}, none).log,
              "/nowhere/nvcc cannot be run");
}

TEST(Toolkit, WithoutNvJitLinkModulesAreLinkedWhereTheyAreLoaded) {
    NEEDS_INPUT("rng.ptx");
    const CudaToolkit found = find_cuda_toolkit();
    const TemporaryDirectory root;
    std::filesystem::create_directory(root.path() + "/bin");
    std::filesystem::create_symlink(found.ptxas, root.path() + "/bin/ptxas");
    const test::CudaHome home(root.path().c_str());
    const Target target("x86-64-linux-cuda-cuda_capability_90");
    DeviceModule module = calling_rng_next({linkable_of("rng.ptx")});
    DeviceCode code = compile_device_module(module, target);
    EXPECT_EQ(code.images.size(), 1u);
    ASSERT_EQ(code.notes.size(), 1u);
    EXPECT_EQ(code.notes[0], "the CUDA toolkit in " + root.path() +
                                 " has no nvJitLink: kernels are embedded as PTX alone, and linked "
                                 "when they are first used");
    EXPECT_EQ(link_in_process({}, {90, 0}, find_cuda_toolkit()).log, "nvJitLink is not there");
}

LinkableImage image(calotype_kind kind, uint32_t sm, char suffix = 0) {
    LinkableImage i = image_of(kind, sm, "x", "");
    i.suffix = suffix;
    return i;
}

// What says for which architecture it is, is taken for that one and later ones of its family.
TEST(Choice, OfFatbinsObjectsAndArchives) {
    for (calotype_kind kind : {CALOTYPE_FATBIN, CALOTYPE_OBJECT, CALOTYPE_ARCHIVE}) {
        LinkableData l;
        l.images = {image(kind, 80), image(kind, 86), image(kind, 90), image(CALOTYPE_PTX, 50)};
        EXPECT_EQ(choose_image(l, {80, 0}, false), &l.images[0]);
        EXPECT_EQ(choose_image(l, {89, 0}, false), &l.images[1]);
        EXPECT_EQ(choose_image(l, {90, 0}, false), &l.images[2]);
        EXPECT_EQ(choose_image(l, {100, 0}, false), &l.images[3]);
        l.images[0].sm = 0;
        EXPECT_EQ(choose_image(l, {100, 0}, false), &l.images[0]) << "it does not say";
        EXPECT_EQ(choose_image(l, {90, 0}, false), &l.images[2]);
    }
}

TEST(Choice, OfWhatSuits) {
    EXPECT_TRUE(suits(image(CALOTYPE_CUBIN, 80), {86, 0}));
    EXPECT_FALSE(suits(image(CALOTYPE_CUBIN, 86), {80, 0}));
    EXPECT_FALSE(suits(image(CALOTYPE_CUBIN, 80), {90, 0}));
    EXPECT_FALSE(suits(image(CALOTYPE_CUBIN, 100, 'a'), {103, 0}));
    EXPECT_TRUE(suits(image(CALOTYPE_CUBIN, 100, 'f'), {103, 0}));
    EXPECT_TRUE(suits(image(CALOTYPE_PTX, 80), {120, 0}));
    EXPECT_FALSE(suits(image(CALOTYPE_PTX, 100, 'f'), {120, 0}));
    EXPECT_FALSE(suits(image(CALOTYPE_PTX, 90), {80, 0}));
    EXPECT_TRUE(suits(image(CALOTYPE_LTOIR, 80), {90, 0}));
    EXPECT_FALSE(suits(image(CALOTYPE_LTOIR, 100), {90, 0}));
    EXPECT_TRUE(suits(image(CALOTYPE_LTOIR, 90, 'a'), {90, 0}));
    EXPECT_FALSE(suits(image(CALOTYPE_LTOIR, 90, 'a'), {100, 0}));
    EXPECT_TRUE(suits(image(CALOTYPE_LTOIR, 100, 'f'), {103, 0}));
    EXPECT_FALSE(suits(image(CALOTYPE_LTOIR, 100, 'f'), {120, 0}));

    LinkableData l;
    EXPECT_EQ(choose_image(l, {90, 0}, false), nullptr);
    l.images = {image(CALOTYPE_PTX, 50), image(CALOTYPE_PTX, 80), image(CALOTYPE_PTX, 100)};
    EXPECT_EQ(choose_image(l, {90, 0}, false), &l.images[1]);
    l.images = {image(CALOTYPE_PTX, 80), image(CALOTYPE_ARCHIVE, 0), image(CALOTYPE_CUBIN, 80),
                image(CALOTYPE_LTOIR, 80), image(CALOTYPE_CUBIN, 86)};
    EXPECT_EQ(choose_image(l, {86, 0}, false), &l.images[4]) << "exact";
    EXPECT_EQ(choose_image(l, {86, 0}, true), &l.images[3]) << "inlined";
    EXPECT_EQ(choose_image(l, {89, 0}, false), &l.images[3]);
    l.lto = LtoMode::Never;
    EXPECT_EQ(choose_image(l, {89, 0}, true), &l.images[4]) << "family";
    EXPECT_EQ(choose_image(l, {90, 0}, true), &l.images[1]);

    const Capability oldest = {50, 0};
    EXPECT_FALSE(is_needed_later(l, l.images[4], oldest, {{80, 0}}));
    EXPECT_FALSE(is_needed_later(l, l.images[4], oldest, {{86, 0}, {90, 0}}));
    EXPECT_TRUE(is_needed_later(l, l.images[2], oldest, {{86, 0}}));
    EXPECT_TRUE(is_needed_later(l, l.images[0], oldest, {{80, 0}, {90, 0}}));
    EXPECT_FALSE(is_needed_later(l, l.images[3], oldest, {}));
}

TEST(Choice, WhatNoDeviceCanNeedStaysBehind) {
    const LinkableData l;
    const auto is_needed = [&](const LinkableImage &i, Capability oldest,
                               const std::vector<Capability> &linked) {
        return is_needed_later(l, i, oldest, linked);
    };
    // Our half runs from 9.0 on.
    for (calotype_kind kind : {CALOTYPE_CUBIN, CALOTYPE_FATBIN, CALOTYPE_OBJECT}) {
        EXPECT_FALSE(is_needed(image(kind, 75), {90, 0}, {}));
        EXPECT_FALSE(is_needed(image(kind, 89), {90, 0}, {}));
        EXPECT_TRUE(is_needed(image(kind, 90), {90, 0}, {}));
        EXPECT_TRUE(is_needed(image(kind, 100), {90, 0}, {{90, 0}}));
    }
    EXPECT_TRUE(is_needed(image(CALOTYPE_CUBIN, 80), {86, 0}, {})) << "it runs on 8.6 too";
    EXPECT_FALSE(is_needed(image(CALOTYPE_CUBIN, 80, 'a'), {86, 0}, {}));
    EXPECT_TRUE(is_needed(image(CALOTYPE_FATBIN, 0), {90, 0}, {{90, 0}}));
    EXPECT_TRUE(is_needed(image(CALOTYPE_PTX, 75), {90, 0}, {{90, 0}}));
    // A cubin for 9.0a serves no other device.
    EXPECT_FALSE(is_needed(image(CALOTYPE_CUBIN, 90, 'a'), {90, 0}, {{90, 'a'}}));
    EXPECT_FALSE(is_needed(image(CALOTYPE_CUBIN, 90, 'a'), {90, 0}, {{90, 0}}));
    EXPECT_TRUE(is_needed(image(CALOTYPE_CUBIN, 90), {90, 0}, {{90, 'a'}}));
}

}  // namespace
}  // namespace calotype::internal
