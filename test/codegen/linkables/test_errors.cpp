// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does not fit is an error when code is generated, that names linkable, file and form.
#include <gtest/gtest.h>

#include "codegen/linkables/linked.h"
#include "harness/cuda_home.h"
#include "harness/expect_error.h"
#include "ir/constants.h"

namespace calotype::internal {
namespace {

using test::CudaHome;

DeviceCode compile(const DeviceModule &module,
                   const char *target = "x86-64-linux-cuda-cuda_capability_90") {
    return compile_device_module(module, Target(target));
}

DeviceCode compile_with(const LinkableData &linkable) {
    return compile(calling_rng_next({linkable}));
}

/// What is in front of the linker's own words.
template<typename F>
std::string first_line(F f) {
    const std::string text = test::error_of<CompileError>(f);
    return text.substr(0, text.find('\n'));
}

DeviceModule calling(const std::string &name, const LinkedFunction &signature,
                     const LinkableData &linkable) {
    std::vector<Expr> args;
    for (const Type &t : signature.parameters) {
        for (int i = 0; i < t.lanes(); i++) {
            args.push_back(make_const(t.element_of(), i));
        }
    }
    DeviceModule module = linked_module(
        DeviceAPI::CUDA, store_out(0, linked_call(signature.result.element_of(), name, args)));
    module.linked.linkables = {linkable};
    module.linked.functions[name] = signature;
    return module;
}

/// Of these the names are known before they are linked.
const char *const readable_forms[] = {"rng.ptx",     "rng.cubin",    "rng.o",        "rng.a",
                                      "rng.fatbin",  "multi.fatbin", "speed.fatbin", "size.fatbin",
                                      "none.fatbin", "rng.bc"};

// L9.
TEST(LinkErrors, AFunctionThatIsMissing) {
    const LinkedFunction f = {Int(32), {Int(32)}};
    for (const std::string form : readable_forms) {
        NEEDS_INPUT(form);
        EXPECT_COMPILE_ERROR(compile(calling("rng_nexd", f, linkable_of(form))),
                             "function rng_nexd is not in linkable rng (in/" + form +
                                 "); nearest is rng_next");
    }
    DeviceModule two = calling("unlike_any_other", f, linkable_of("rng.ptx"));
    two.linked.linkables.push_back(linkable_of("other.ptx", "b"));
    EXPECT_COMPILE_ERROR(
        compile(two),
        "function unlike_any_other is not in linkable rng (in/rng.ptx), linkable b (in/other.ptx)");
    // LTO-IR is not read: the linker finds it.
    NEEDS_INPUT("rng.ltoir");
    EXPECT_COMPILE_ERROR(
        compile(calling("rng_nexd", f, linkable_of("rng.ltoir"))),
        "device function rng_nexd, which module test calls, is defined neither by "
        "the kernels nor by linkable rng (in/rng.ltoir); LTO-IR that has kernels of its own loses "
        "functions that only PTX calls: ask for lto=require, or add PTX");
    NEEDS_INPUT("members.a");
    EXPECT_COMPILE_ERROR(
        compile(calling("rng_nexd", f, linkable_of("members.a"))),
        "device function rng_nexd, which module test calls, is defined neither by the kernels nor "
        "by linkable rng (in/members.a); LTO-IR that has kernels of its own loses functions that "
        "only PTX calls: "
        "ask for lto=require, or add PTX");
}

// Messages say which parameter of the generator it was, and the file as it was given.
TEST(LinkErrors, ParametersAreNamed) {
    LinkableData rng = linkable_of("rng.ptx"), callbacks;
    callbacks.name = "hooks";
    callbacks.parameter = "extras";
    const LinkedFunction f = {Int(32), {Int(32)}};
    EXPECT_COMPILE_ERROR(
        compile(calling("f", f, callbacks)),
        "function f is not in linkable hooks (parameter extras), which has no code "
        "for this device");
    DeviceModule two = calling("f", f, callbacks);
    two.linked.linkables.push_back(linkable_of("rng.cl"));
    two.linked.linkables[1].is_optional = true;
    EXPECT_COMPILE_ERROR(compile(two),
                         "function f is not in linkable hooks (parameter extras), linkable rng "
                         "(in/rng.cl), which have no code for this device");
    two.linked.linkables.clear();
    EXPECT_COMPILE_ERROR(compile(two), "function f is not in any linkable");
    NEEDS_INPUT("rng.ptx");
    rng.parameter = "noise";
    EXPECT_COMPILE_ERROR(compile(calling("rng_nexd", f, rng)),
                         "function rng_nexd is not in linkable rng (parameter noise, in/rng.ptx); "
                         "nearest is rng_next");
    EXPECT_COMPILE_ERROR(
        compile(calling("rng_next", f, rng)),
        "function rng_next of linkable rng (parameter noise, in/rng.ptx) has parameters of 4, 4 "
        "bytes and a result of 4 bytes, but is called with parameters of 4 bytes and a result of 4 "
        "bytes");
    rng.images[0].origin.clear();
    rng.lto = LtoMode::Require;
    EXPECT_COMPILE_ERROR(compile_with(rng),
                         "linkable rng (parameter noise) requires LTO (lto=require), but it holds "
                         "PTX sm_80; give it LTO-IR, CUDA C++ or LLVM bitcode, or allow a call "
                         "(lto=allow)");
}

TEST(LinkErrors, ASignatureThatIsAnother) {
    NEEDS_INPUT("rng.ptx");
    EXPECT_COMPILE_ERROR(
        compile(calling("rng_next", {Int(32), {Int(32), Float(64)}}, linkable_of("rng.ptx"))),
        "function rng_next of linkable rng (in/rng.ptx) has parameters of 4, 4 bytes and a result "
        "of "
        "4 bytes, but is called with parameters of 4, 8 bytes and a result of 4 bytes");
    EXPECT_COMPILE_ERROR(
        compile(calling("rng_put", {Int(32), {Handle(), Int(32)}}, linkable_of("rng.ptx"))),
        "function rng_put of linkable rng (in/rng.ptx) has parameters of 8, 4 bytes and no result, "
        "but is called with parameters of 8, 4 bytes and a result of 4 bytes");
    // PTX has sizes alone.
    EXPECT_NE(cubin_for(compile(calling("rng_next", {Float(32), {Int(32), Float(32)}},
                                        linkable_of("rng.ptx"))),
                        90),
              "");
    NEEDS_INPUT("rng.bc");
    EXPECT_COMPILE_ERROR(
        compile(calling("rng_next", {Int(32), {Int(32), Float(32)}}, linkable_of("rng.bc"))),
        "function rng_next of linkable rng (in/rng.bc) is i32 (i32, i32), but it is called as "
        "int32 "
        "(int32, float32)");
    EXPECT_COMPILE_ERROR(
        compile(calling("rng_next", {Float(32), {Int(32), Int(32)}}, linkable_of("rng.bc"))),
        "function rng_next of linkable rng (in/rng.bc) is i32 (i32, i32), but it is called as "
        "float32 "
        "(int32, int32)");
    EXPECT_COMPILE_ERROR(compile(calling("rng_next", {Int(32), {Int(32)}}, linkable_of("rng.bc"))),
                         "function rng_next of linkable rng (in/rng.bc) is i32 (i32, i32), but it "
                         "is called as int32 "
                         "(int32)");
}

// What NVRTC made of it is read as PTX, also where LTO-IR is linked.
TEST(LinkErrors, CudaSourceOfAnotherSignatureOrName) {
    NEEDS_INPUT("rng.ptx");
    LinkableData rng = linkable_of("rng.cu");
    for (LtoMode lto : {LtoMode::Allow, LtoMode::Require}) {
        rng.lto = lto;
        rng.images[0].bytes = "extern \"C\" __device__ int f(int a, int b) { return a; }\n";
        EXPECT_COMPILE_ERROR(
            compile(calling("f", {Int(32), {Int(32)}}, rng)),
            "function f of linkable rng (" CALOTYPE_LINKED_INPUTS
            "/rng.cu) has parameters of 4, 4 bytes and a result of 4 "
            "bytes, but is called with parameters of 4 bytes and a result of 4 bytes");
        EXPECT_COMPILE_ERROR(compile(calling("g", {Int(32), {Int(32)}}, rng)),
                             "function g is not in linkable rng (" CALOTYPE_LINKED_INPUTS
                             "/rng.cu)");
        rng.images[0].bytes = "__device__ int f(int a) { return a; }\n";
        EXPECT_COMPILE_ERROR(compile(calling("f", {Int(32), {Int(32)}}, rng)),
                             "function f is not in linkable rng (" CALOTYPE_LINKED_INPUTS
                             "/rng.cu); it holds _Z1fi, to be "
                             "declared extern \"C\"");
    }
}

// LTO-IR alone tells no names; what the linker says is explained.
// L9, L14.
TEST(LinkErrors, NamesThatLtoIrHasNot) {
    NEEDS_INPUT("rng.ltoir");
    LinkableData rng = linkable_of("rng.ltoir");
    rng.lto = LtoMode::Require;
    EXPECT_COMPILE_ERROR(compile(calling("rng_nexd", {Int(32), {Int(32)}}, rng)),
                         "device function rng_nexd, which module test calls, is defined neither by "
                         "the kernels nor by linkable rng (in/rng.ltoir)");
    DeviceModule with_ptx = calling("rng_nexd", {Int(32), {Int(32)}}, rng);
    with_ptx.linked.linkables.push_back(linkable_of("other.ptx", "b"));
    EXPECT_COMPILE_ERROR(compile(with_ptx),
                         "device function rng_nexd, which module test calls, is defined neither by "
                         "the kernels nor by linkable rng (in/rng.ltoir) or linkable b "
                         "(in/other.ptx)");
    LinkableData nrt = linkable_of("nrt.ltoir");
    nrt.lto = LtoMode::Require;
    EXPECT_COMPILE_ERROR(compile_with(nrt),
                         "device function NRT_Allocate, which linkable rng (in/nrt.ltoir) calls, "
                         "belongs to the device runtime, which is not linked: add nrt to the "
                         "linkable that calls it");
    DeviceModule two = calling_rng_next({nrt, linkable_of("other.ltoir", "b")});
    EXPECT_COMPILE_ERROR(
        compile(two),
        "device function NRT_Allocate, which linkable rng (in/nrt.ltoir) or linkable b "
        "(in/other.ltoir) "
        "calls, belongs to the device runtime, which is not linked: add nrt to the linkable that "
        "calls it");
    // With PTX of the same code beside it they are known.
    add_image(rng, "rng.ptx");
    EXPECT_COMPILE_ERROR(
        compile(calling("rng_nexd", {Int(32), {Int(32)}}, rng)),
        "function rng_nexd is not in linkable rng (in/rng.ptx); nearest is rng_next");
}

TEST(LinkErrors, VectorsThatCudaHasNot) {
    NEEDS_INPUT("rng.ltoir");
    EXPECT_COMPILE_ERROR(
        compile(calling("f", {Int(32), {Float(32, 8)}}, linkable_of("rng.ltoir"))),
        "function f takes or gives float32x8, but vectors of CUDA have 2, 3 or 4 numbers, none of "
        "them float16 or bfloat16");
}

TEST(LinkErrors, ANameThatTwoDefine) {
    for (const std::string form : readable_forms) {
        NEEDS_INPUT(form);
        for (const std::string other : {"rng.cubin", "rng.a"}) {
            EXPECT_COMPILE_ERROR(
                compile(calling_rng_next({linkable_of(form), linkable_of(other, "b")})),
                "rng_half is defined twice: by linkable rng (in/" + form +
                    ") and by linkable b (in/" + other + ")");
        }
    }
    NEEDS_INPUT("rng.bc");
    EXPECT_COMPILE_ERROR(
        compile(calling_rng_next({linkable_of("nrt.ptx"), linkable_of("rng.bc", "b")})),
        "rng_next is defined twice: by linkable rng (in/nrt.ptx) and by linkable b (in/rng.bc)");
    // Without a toolkit too: names are read before anything is linked.
    const CudaHome none("/nowhere");
    EXPECT_COMPILE_ERROR(
        compile(calling_rng_next({linkable_of("rng.o"), linkable_of("rng.fatbin", "b")})),
        "rng_half is defined twice: by linkable rng (in/rng.o) and by linkable b (in/rng.fatbin)");
}

// LTO-IR is not read: what the linker says is said in our words.
TEST(LinkErrors, ANameThatTwoDefineInLtoIr) {
    NEEDS_INPUT("rng.ltoir");
    EXPECT_COMPILE_ERROR(
        compile(calling_rng_next({linkable_of("rng.ltoir"), linkable_of("rng90a.ltoir", "b")})),
        "rng_table is defined twice: by linkable b (in/rng90a.ltoir) and by what stands before it");
    EXPECT_COMPILE_ERROR(compile_with(linkable_of("twice.a")),
                         "rng_half is defined twice in linkable rng (in/twice.a)");
}

TEST(LinkErrors, AKernelOfTheSameName) {
    for (const std::string form : readable_forms) {
        NEEDS_INPUT(form);
        DeviceModule module = calling_rng_next({linkable_of(form)});
        module.kernels[0].name = "rng_next";
        EXPECT_COMPILE_ERROR(
            compile(module),
            "kernel rng_next has the name of function rng_next of linkable rng (in/" + form + ")");
    }
}

TEST(LinkErrors, WhatAnotherMachineTakes) {
    EXPECT_COMPILE_ERROR(compile_with(linkable_of("rng.cl")),
                         "linkable rng (in/rng.cl) holds OpenCL C, which kernels for CUDA cannot "
                         "call; give it PTX, a cubin, CUDA C++ or LLVM bitcode");
    EXPECT_COMPILE_ERROR(
        compile(calling_rng_next({linkable_of("rng.ptx")}, DeviceAPI::OpenCL),
                "x86-64-linux-opencl"),
        "linkable rng (in/rng.ptx) holds PTX sm_80, which kernels for OpenCL cannot call; give it "
        "OpenCL C");
    NEEDS_INPUT("host.bc");
    EXPECT_COMPILE_ERROR(
        compile_with(linkable_of("host.bc")),
        "function rng_next is not in linkable rng (in/host.bc), which has no code for "
        "this device");
}

// L7, L8.
TEST(LinkErrors, CodeOfAnotherArchitecture) {
    NEEDS_INPUT("rng80.cubin");
    EXPECT_COMPILE_ERROR(compile_with(linkable_of("rng80.cubin")),
                         "linkable rng (in/rng80.cubin) has no code that links for sm_90: it holds "
                         "cubin sm_80; add PTX, or a cubin of that architecture");
    EXPECT_COMPILE_ERROR(compile_with(linkable_of("new.ltoir")),
                         "linkable rng (in/new.ltoir) has no code that links for sm_90: it holds "
                         "LTO-IR sm_100, and LTO-IR must not be newer than the target; build it "
                         "for sm_90 or older");
    LinkableData special = linkable_of("rng90a.ltoir");
    special.images[0].suffix = 'a';
    EXPECT_NE(cubin_for(compile_with(special), 90), "");
    EXPECT_COMPILE_ERROR(
        compile(calling_rng_next({special}), "x86-64-linux-cuda-cuda_capability_100"),
        "linkable rng (in/rng90a.ltoir) has no code that links for sm_100: it holds LTO-IR sm_90a, "
        "and LTO-IR with suffix a is for its own architecture alone; build it without");
    special.images = {image_of(CALOTYPE_PTX, 90, linked_input("rng.ptx"), "in/rng90a.ptx")};
    special.images[0].suffix = 'a';
    EXPECT_COMPILE_ERROR(
        compile(calling_rng_next({special}), "x86-64-linux-cuda-cuda_capability_100"),
        "linkable rng (in/rng90a.ptx) has no code that links for sm_100: it holds PTX sm_90a, and "
        "PTX "
        "with suffix a is for its own architecture alone; build it without");
    // Where the file does not say what it is for, the linker does.
    LinkableData unnamed = linkable_of("new.ltoir");
    unnamed.images[0].sm = 0;
    EXPECT_EQ(
        first_line([&] { compile_with(unnamed); }),
        "linkable rng (in/new.ltoir): LTO-IR does not link for sm_90; LTO-IR must be made by a "
        "toolkit that is no newer than the linker, for that architecture or an older one: "
        "nvJitLink answered 13");
    unnamed = linkable_of("rng80.cubin");
    unnamed.images[0].sm = 0;
    EXPECT_EQ(
        first_line([&] { compile_with(unnamed); }),
        "linkable rng (in/rng80.cubin): cubin does not link for sm_90; it is damaged, or made "
        "for other architectures: nvJitLink answered 3");
}

// It makes what is linked with it such code too.
TEST(LinkErrors, CodeOfOneArchitectureAlone) {
    NEEDS_INPUT("rng90a.cubin");
    std::string ptx = linked_input("rng.ptx");
    ptx.replace(ptx.find("sm_80"), 5, "sm_90a");
    LinkableData of_ptx = linkable_of("rng.ptx"), of_cubin = linkable_of("rng90a.cubin");
    of_ptx.images = {image_of(CALOTYPE_PTX, 90, ptx, "rng.ptx")};
    for (LinkableData rng : {of_ptx, of_cubin}) {
        rng.images[0].suffix = 'a';
        for (const char *target : {"x86-64-linux-cuda-cuda_capability_90", "x86-64-linux-cuda"}) {
            const DeviceCode code = compile(calling_rng_next({rng}), target);
            const DeviceImage &cubin = code.images.back();
            EXPECT_EQ(cubin.kind, CALOTYPE_CUBIN);
            EXPECT_EQ(cubin.sm, 90u);
            EXPECT_EQ(cubin.suffix, 'a');
            EXPECT_TRUE(defines(cubin.bytes, "rng_next"));
            EXPECT_EQ(code.facts.back().suffix, 'a');
            EXPECT_EQ(code.linkables[0].how.substr(0, code.linkables[0].how.find(',')),
                      std::string(rng.images[0].kind == CALOTYPE_PTX ? "PTX" : "cubin") +
                          " sm_90a linked into cubin sm_90a");
        }
        const DeviceCode any = compile(calling_rng_next({rng}), "x86-64-linux-cuda");
        ASSERT_EQ(any.notes.size(), 1u);
        EXPECT_EQ(any.notes[0].substr(0, any.notes[0].find(": ")),
                  "there is no machine code for sm_80");
    }
}

// Of several fatbins or objects that one is linked whose architecture fits.
// L8.
TEST(LinkErrors, ContainersOfOneArchitecture) {
    const std::string forms[] = {"fatbin", "o"};
    for (const std::string &form : forms) {
        NEEDS_INPUT("rng80." + form);
        LinkableData rng = linkable_of("rng80." + form);
        rng.images[0].sm = 80;
        EXPECT_COMPILE_ERROR(compile_with(rng),
                             "linkable rng (in/rng80." + form +
                                 ") has no code that links for sm_90: it holds " +
                                 (form == "o" ? "object" : form) +
                                 " sm_80; add PTX, or a cubin of that architecture");
        add_image(rng, "rng." + form);
        rng.images[1].sm = 90;
        EXPECT_TRUE(defines(cubin_for(compile_with(rng), 90), "rng_next"));
    }
}

// Architectures that nobody named are left out.
TEST(LinkErrors, AnArchitectureThatIsOnlyChosenIsLeftOut) {
    NEEDS_INPUT("rng.cubin");
    const DeviceCode code =
        compile(calling_rng_next({linkable_of("rng.cubin")}), "x86-64-linux-cuda");
    EXPECT_EQ(cubin_for(code, 80), "");
    EXPECT_NE(cubin_for(code, 90), "");
    ASSERT_EQ(code.notes.size(), 1u);
    EXPECT_EQ(
        code.notes[0],
        "there is no machine code for sm_80: linkable rng (in/rng.cubin) has no code that links "
        "for sm_80: it holds cubin sm_90; add PTX, or a cubin of that architecture");
    // Nothing later can link: our PTX is only shown.
    EXPECT_FALSE(code.images[0].is_embedded);
    EXPECT_TRUE(code.linkables[0].data.images.empty());
    EXPECT_COMPILE_ERROR(compile(calling_rng_next({linkable_of("new.ltoir")}), "x86-64-linux-cuda"),
                         "linkable rng (in/new.ltoir) has no code that links for sm_90: it holds "
                         "LTO-IR sm_100, and LTO-IR must not be newer than the target; build it "
                         "for sm_90 or older");
}

// L2, L3.
TEST(LinkErrors, LtoThatIsForbiddenOrImpossible) {
    NEEDS_INPUT("rng.ltoir");
    LinkableData rng = linkable_of("rng.ltoir");
    rng.lto = LtoMode::Never;
    EXPECT_COMPILE_ERROR(compile_with(rng),
                         "linkable rng (in/rng.ltoir) has no code that links for sm_90: it holds "
                         "LTO-IR sm_80, and LTO-IR links only with LTO, which is forbidden "
                         "(lto=never); allow it, or add PTX or a cubin");
    rng = linkable_of("rng.ptx");
    rng.lto = LtoMode::Require;
    EXPECT_COMPILE_ERROR(compile_with(rng),
                         "linkable rng (in/rng.ptx) requires LTO (lto=require), but it holds PTX "
                         "sm_80; give it LTO-IR, CUDA C++ or LLVM bitcode, or allow a call "
                         "(lto=allow)");
    EXPECT_COMPILE_ERROR(
        compile_with(linkable_of("fill.ltoir")),
        "device function rng_next, which module test calls, is defined neither by "
        "the kernels nor by linkable rng (in/fill.ltoir); LTO-IR that has kernels of its own loses "
        "functions that only PTX calls: ask for lto=require, or add PTX");
    CudaHome none("/nowhere");
    rng = linkable_of("rng.ltoir");
    rng.lto = LtoMode::Require;
    EXPECT_COMPILE_ERROR(
        compile_with(rng),
        "linkable rng (in/rng.ltoir) requires LTO (lto=require), for which NVRTC or "
        "nvcc must compile the kernels, and neither is in the CUDA toolkit in "
        "/nowhere");
    EXPECT_COMPILE_ERROR(compile_with(linkable_of("rng.cu")),
                         "linkable rng (" CALOTYPE_LINKED_INPUTS
                         "/rng.cu) is CUDA C++, which NVRTC or nvcc must compile, and "
                         "neither is in the CUDA toolkit in /nowhere");
}

TEST(LinkErrors, SourceThatDoesNotCompile) {
    NEEDS_INPUT("rng.ptx");
    LinkableData rng = linkable_of("rng.cu");
    rng.images[0].bytes = "extern \"C\" __device__ int rng_next(int a, int b) { return c; }\n";
    EXPECT_COMPILE_ERROR(
        compile_with(rng),
        "linkable rng (" CALOTYPE_LINKED_INPUTS
        "/rng.cu) does not compile for sm_90:\nrng.cu(1): error: identifier \"c\" is "
        "undefined\n  extern \"C\" __device__ int rng_next(int a, int b) { return c; }\n           "
        "                                                 ^\n\n1 error detected in the compilation "
        "of \"rng.cu\".\n");
    rng = linkable_of("rng.cu");
    rng.is_embedded = false;
    EXPECT_COMPILE_ERROR(compile_with(rng),
                         "linkable rng (" CALOTYPE_LINKED_INPUTS
                         "/rng.cu) is CUDA C++, which is compiled now, so it cannot "
                         "be read when the program runs (embed=0); give it PTX or a cubin");
}

TEST(LinkErrors, FilesThatEndTooEarly) {
    NEEDS_INPUT("rng.cubin");
    const char *forms[][2] = {{"rng.cubin", "cubin sm_90"},
                              {"rng.o", "object"},
                              {"rng.a", "archive"},
                              {"rng.fatbin", "fatbin"}};
    for (const auto &form : forms) {
        LinkableData rng = linkable_of(form[0]);
        for (size_t left : {rng.images[0].bytes.size() / 2, rng.images[0].bytes.size() - 3}) {
            LinkableData cut = rng;
            cut.images[0].bytes.resize(left);
            EXPECT_COMPILE_ERROR(compile_with(cut),
                                 std::string("linkable rng (in/") + form[0] + "): " + form[1] +
                                     " is cut off: it ends before what its header tells of");
        }
    }
    NEEDS_INPUT("rng.bc");
    LinkableData rng = linkable_of("rng.bc");
    rng.images[0].bytes.resize(1000);
    const std::string text = test::error_of<CompileError>([&] { compile_with(rng); });
    const std::string begin = "linkable rng (in/rng.bc) cannot be read as LLVM bitcode by LLVM ";
    EXPECT_EQ(text.substr(0, begin.size()), begin);
}

// L9.
TEST(LinkErrors, NamesThatNobodyDefines) {
    for (const std::string form : {"ptx", "bc", "o", "a", "fatbin"}) {
        NEEDS_INPUT("other." + form);
        DeviceModule module =
            calling("rng_other", {Int(32), {Int(32)}}, linkable_of("other." + form));
        EXPECT_COMPILE_ERROR(compile(module),
                             "device function rng_missing, which linkable rng (in/other." + form +
                                 ") calls, is defined neither by the kernels nor by linkable rng "
                                 "(in/other." +
                                 form + ")");
    }
}

// L14.
TEST(LinkErrors, TheDeviceRuntimeIsAskedFor) {
    for (const std::string form : {"ptx", "bc", "o", "a", "fatbin", "ltoir"}) {
        NEEDS_INPUT("nrt." + form);
        EXPECT_COMPILE_ERROR(compile_with(linkable_of("nrt." + form)),
                             "device function NRT_Allocate, which linkable rng (in/nrt." + form +
                                 ") calls, belongs to the device runtime, which is not linked: add "
                                 "nrt to the linkable that calls it");
    }
    // What a linkable of its own defines is no call of ours.
    LinkableData rng = linkable_of("nrt.ptx");
    LinkableData own = linkable_of("nrt.ptx", "own");
    own.images[0].bytes = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .func (.param "
                          ".b64 r) NRT_Allocate(.param .b64 n)\n{\n    st.param.b64 [r], 0;\n"
                          "    ret;\n}\n";
    EXPECT_NE(cubin_for(compile(calling_rng_next({rng, own})), 90), "");
    rng.nrt = true;
    EXPECT_COMPILE_ERROR(
        compile(calling_rng_next({rng}, DeviceAPI::OpenCL), "x86-64-linux-opencl"),
        "linkable rng (in/nrt.ptx) uses the device runtime (nrt), which OpenCL does not have");
}

}  // namespace
}  // namespace calotype::internal
