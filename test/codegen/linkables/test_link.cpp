// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Linkables of every kind, linked into cubins when code is generated.
#include <gtest/gtest.h>

#include <algorithm>

#include "codegen/device_runtime.h"
#include "codegen/linkables/linkable.h"
#include "codegen/linkables/linked.h"
#include "codegen/nvptx/cubin.h"
#include "harness/cuda_home.h"
#include "ir/parser.h"
#include "runtime/abi/linkables.h"
#include "support/text.h"

namespace calotype::internal {
namespace {

DeviceCode compile(const DeviceModule &module,
                   const char *target = "x86-64-linux-cuda-cuda_capability_90") {
    return compile_cuda_module(module, Target(target));
}

struct Form {
    const char *file;
    LtoMode lto;
    const char *how;
    bool is_inlined;
};

class EveryForm : public ::testing::TestWithParam<Form> {};

// A call that stays is a function in the cubin, an inlined one is not.
// L1, L4, L6, L12, L13.
TEST_P(EveryForm, IsLinked) {
    const Form &form = GetParam();
    NEEDS_INPUT(form.file);
    LinkableData rng = linkable_of(form.file);
    rng.lto = form.lto;
    rng.setup = "rng_setup";
    const DeviceCode code = compile(calling_rng_next({rng}));
    const std::string cubin = cubin_for(code, 90);
    ASSERT_FALSE(cubin.empty());
    EXPECT_EQ(cubin.substr(16, 1), "\2") << "not fully linked";
    EXPECT_TRUE(defines(cubin, "k"));
    EXPECT_EQ(defines(cubin, "rng_next"), !form.is_inlined);
    EXPECT_TRUE(defines(cubin, "rng_table"));
    ASSERT_EQ(code.linkables.size(), 1u);
    EXPECT_EQ(code.linkables[0].how, form.how);
    const bool is_lto = form.lto == LtoMode::Require && form.file != std::string("rng.bc");
    EXPECT_EQ(code.flags, is_lto ? uint32_t(CALOTYPE_MOD_LTO) : 0u);
    EXPECT_EQ(code.facts.size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(
    Link, EveryForm,
    ::testing::Values(
        Form{"rng.ptx", LtoMode::Allow,
             "PTX sm_80 linked into cubin sm_90, PTX sm_80 linked at load time for other devices",
             false},
        Form{"rng.ptx", LtoMode::Never,
             "PTX sm_80 linked into cubin sm_90, PTX sm_80 linked at load time for other devices",
             false},
        Form{"rng.cubin", LtoMode::Allow, "cubin sm_90 linked into cubin sm_90", false},
        Form{"rng.cubin", LtoMode::Never, "cubin sm_90 linked into cubin sm_90", false},
        Form{"rng.o", LtoMode::Allow,
             "object linked into cubin sm_90, object linked at load time for other devices", false},
        Form{"rng.o", LtoMode::Never,
             "object linked into cubin sm_90, object linked at load time for other devices", false},
        Form{"rng.a", LtoMode::Allow,
             "archive linked into cubin sm_90, archive linked at load time for other devices",
             false},
        Form{"rng.a", LtoMode::Never,
             "archive linked into cubin sm_90, archive linked at load time for other devices",
             false},
        Form{"rng.fatbin", LtoMode::Allow,
             "fatbin linked into cubin sm_90, fatbin linked at load time for other devices", false},
        Form{"rng.fatbin", LtoMode::Never,
             "fatbin linked into cubin sm_90, fatbin linked at load time for other devices", false},
        Form{"multi.fatbin", LtoMode::Allow,
             "fatbin linked into cubin sm_90, fatbin linked at load time for other devices", false},
        Form{"rng.ltoir", LtoMode::Allow,
             "LTO-IR sm_80 linked into cubin sm_90, LTO-IR sm_80 linked at load time for other "
             "devices",
             false},
        Form{"rng.ltoir", LtoMode::Require,
             "LTO-IR sm_80 inlined into cubin sm_90, LTO-IR sm_80 linked at load time for other "
             "devices",
             true},
        Form{"multi.fatbin", LtoMode::Require,
             "fatbin inlined into cubin sm_90, fatbin linked at load time for other devices", true},
        Form{"rng.cu", LtoMode::Allow,
             "PTX sm_90 linked into cubin sm_90, PTX sm_90 linked at load time for other devices",
             false},
        Form{"rng.cu", LtoMode::Require,
             "LTO-IR sm_90 inlined into cubin sm_90, PTX sm_90, LTO-IR sm_90 linked at load time "
             "for other devices",
             true},
        Form{"rng.bc", LtoMode::Allow, "LLVM bitcode inlined", true},
        Form{"rng.bc", LtoMode::Never, "LLVM bitcode inlined", true},
        Form{"rng.bc", LtoMode::Require, "LLVM bitcode inlined", true}),
    [](const auto &info) {
        std::string name = info.param.file;
        for (char &c : name) {
            c = c == '.' ? '_' : c;
        }
        return name + (info.param.lto == LtoMode::Allow     ? "_allow"
                       : info.param.lto == LtoMode::Require ? "_require"
                                                            : "_never");
    });

TEST(Link, SeveralArchitectures) {
    NEEDS_INPUT("rng.ptx");
    const DeviceModule module = calling_rng_next({linkable_of("rng.ptx")});
    DeviceCode code = compile(module, "x86-64-linux-cuda-cuda_capability_80-cuda_capability_90");
    ASSERT_EQ(code.images.size(), 3u);
    EXPECT_EQ(code.images[0].kind, CALOTYPE_PTX);
    EXPECT_EQ(code.images[0].sm, 80u);
    EXPECT_NE(cubin_for(code, 80), "");
    EXPECT_NE(cubin_for(code, 90), "");
    EXPECT_EQ(code.linkables[0].how,
              "PTX sm_80 linked into cubin sm_80, PTX sm_80 linked into cubin sm_90, PTX sm_80 "
              "linked at load time for other devices");
    // One that has all below it names one.
    code = compile_cuda_module(
        module, Target("x86-64-linux-cuda-cuda_capability_90").with_implied_features());
    ASSERT_EQ(code.images.size(), 2u);
    EXPECT_EQ(code.images[0].sm, 90u);
}

TEST(Link, MachineCodeOfAnExactArchitectureIsPreferred) {
    NEEDS_INPUT("rng.ptx");
    LinkableData rng = linkable_of("rng.ptx");
    add_image(rng, "rng80.cubin");
    add_image(rng, "rng.ltoir");
    const DeviceCode code =
        compile(calling_rng_next({rng}), "x86-64-linux-cuda-cuda_capability_80-cuda_capability_90");
    EXPECT_EQ(code.linkables[0].how,
              "cubin sm_80 linked into cubin sm_80, LTO-IR sm_80 linked into cubin sm_90, PTX "
              "sm_80, LTO-IR sm_80 linked at load time for other devices");
    // A cubin that complete ones make useless does not travel, nor LTO-IR that is forbidden.
    EXPECT_EQ(code.linkables[0].data.images.size(), 2u);
    rng.lto = LtoMode::Never;
    EXPECT_EQ(compile(calling_rng_next({rng})).linkables[0].data.images.size(), 1u);
}

TEST(Link, WithoutAToolkitAtLoadTime) {
    NEEDS_INPUT("rng.ptx");
    const test::CudaHome none("/nowhere");
    LinkableData rng = linkable_of("rng.ptx");
    add_image(rng, "rng.cubin");
    const DeviceCode code = compile(calling_rng_next({rng}));
    ASSERT_EQ(code.images.size(), 1u);
    EXPECT_TRUE(code.images[0].is_embedded);
    ASSERT_EQ(code.linkables.size(), 1u);
    EXPECT_EQ(code.linkables[0].data.images.size(), 2u);
    EXPECT_EQ(code.linkables[0].how, "PTX sm_80, cubin sm_90 linked at load time");
    EXPECT_EQ(code.notes.size(), 1u);
}

// L5.
TEST(Link, LtoTravelsAsLtoIr) {
    NEEDS_INPUT("rng.ltoir");
    LinkableData rng = linkable_of("rng.ltoir");
    rng.lto = LtoMode::Require;
    const DeviceCode code = compile(calling_rng_next({rng}), "x86-64-linux-cuda");
    ASSERT_EQ(code.images.size(), 4u);
    EXPECT_EQ(code.images[0].kind, CALOTYPE_PTX);
    EXPECT_FALSE(code.images[0].is_embedded) << "a link at load time takes our LTO-IR";
    EXPECT_EQ(code.images[1].kind, CALOTYPE_LTOIR);
    EXPECT_EQ(code.images[1].sm, 80u);
    EXPECT_TRUE(code.images[1].is_embedded);
    for (uint32_t sm : {80, 90}) {
        EXPECT_FALSE(defines(cubin_for(code, sm), "rng_next")) << sm;
    }
    // Beside it, what is no LTO-IR stays a call; bitcode becomes PTX.
    LinkableData other = linkable_of("fill.bc", "fill");
    other.images[0].bytes = linked_input("chain.bc");
    DeviceModule module = calling_rng_next({rng, other});
    module.linked.functions["rng_twice"] = {Int(32), {Int(32)}};
    module.kernels[0].body = store_out(0, linked_call(Int(32), "rng_twice", {load_out(1)}));
    const std::string cubin = cubin_for(compile(module), 90);
    EXPECT_TRUE(defines(cubin, "rng_twice"));
}

// L15.
TEST(Link, TheDeviceRuntimeWithEveryForm) {
    NEEDS_INPUT("nrt.ptx");
    for (const std::string form : {"nrt.ptx", "nrt.bc", "nrt.ltoir"}) {
        LinkableData rng = linkable_of(form);
        rng.nrt = true;
        const DeviceCode code = compile(calling_rng_next({rng}));
        EXPECT_EQ(code.flags, uint32_t(CALOTYPE_MOD_NRT)) << form;
        ASSERT_EQ(code.linkables.size(), 2u);
        EXPECT_EQ(code.linkables[0].data.name, "calotype_nrt");
        EXPECT_TRUE(defines(cubin_for(code, 90), "TheMSys")) << form;
    }
    DeviceModule module = calling_rng_next({linkable_of("rng.bc")});
    module.linked.needs_device_runtime = true;
    EXPECT_EQ(compile(module).flags, uint32_t(CALOTYPE_MOD_NRT));
}

const char *for_debugging = "x86-64-linux-cuda-cuda_capability_90-debug";

// `debug` takes the form that traps in place of the plain one.
TEST(Link, TheDeviceRuntimeForDebugging) {
    for (const std::string form : {"nrt.ptx", "nrt.bc", "nrt.ltoir", "nrt.cu"}) {
        NEEDS_INPUT(form);
        for (LtoMode lto : {LtoMode::Allow, LtoMode::Require}) {
            LinkableData rng = linkable_of(form);
            rng.nrt = true;
            rng.lto = lto;
            if (lto == LtoMode::Require && form == "nrt.ptx") {
                continue;
            }
            const DeviceModule module = calling_rng_next({rng});
            const DeviceCode plain = compile(module), debug = compile(module, for_debugging);
            EXPECT_EQ(debug.flags, plain.flags | CALOTYPE_MOD_DEBUG) << form;
            EXPECT_NE(plain.flags & CALOTYPE_MOD_NRT, 0u) << form;
            ASSERT_EQ(debug.linkables.size(), 2u) << "one runtime, never both";
            EXPECT_EQ(debug.linkables[0].data.name, "calotype_nrt_debug");
            EXPECT_TRUE(defines(cubin_for(debug, 90), "TheMSys")) << form;
            EXPECT_NE(device_module_uid(module, debug), device_module_uid(module, plain)) << form;
        }
    }
    // Where nothing uses the device runtime, there is nothing of it to debug.
    const DeviceCode without = compile(calling_rng_next({linkable_of("rng.ptx")}), for_debugging);
    EXPECT_EQ(without.flags, 0u);
    EXPECT_EQ(without.linkables.size(), 1u);
}

// The trap is found by its bytes: a toolkit need not have a disassembler.
TEST(Link, TheDeviceRuntimeForDebuggingTraps) {
    NEEDS_INPUT("rng.ptx");
    DeviceModule module = linked_module(DeviceAPI::CUDA, parse_stmt(R"(
        let block = extern NRT_Allocate(uint64(out[1]:int32)):handle
        evaluate extern NRT_Check(block:handle):int32
        evaluate extern NRT_Free(block:handle):int32
    )"));
    module.linked.needs_device_runtime = true;
    module.linked.functions["NRT_Allocate"] = {Handle(), {UInt(64)}};
    module.linked.functions["NRT_Check"] = {Type(), {Handle()}};
    module.linked.functions["NRT_Free"] = {Type(), {Handle()}};
    const auto traps = [](const DeviceCode &code) {
        int count = 0;
        for (const ElfSection &s : read_elf_sections(cubin_for(code, 90))) {
            if (starts_with(s.name, ".text.")) {
                for (const Instruction &i : instructions(cubin_for(code, 90), s.name.substr(6))) {
                    count += i.operation() == 0x95c;  // BPT.TRAP
                }
            }
        }
        return count;
    };
    const DeviceCode debug = compile(module, for_debugging), plain = compile(module);
    // One of NRT_Check, the other of what NRT_Free gives back.
    EXPECT_EQ(traps(debug), 2);
    EXPECT_EQ(traps(plain), 0);
    for (const char *name : {"NRT_Check", "NRT_Free", "TheMSys"}) {
        EXPECT_TRUE(defines(cubin_for(debug, 90), name)) << name;
    }
    EXPECT_EQ(debug.flags, uint32_t(CALOTYPE_MOD_NRT | CALOTYPE_MOD_DEBUG));
}

// What lowering makes of storage of a thread's own whose size the kernel alone knows.
TEST(Link, KernelsOfOurOwnWithTheDeviceRuntime) {
    NEEDS_INPUT("rng.ptx");
    DeviceModule module = linked_module(DeviceAPI::CUDA, parse_stmt(R"(
        let block = extern NRT_Allocate(uint64(out[1]:int32) * (uint64)4):handle
        if (reinterpret<uint64>(block:handle) == (uint64)0) {
            out[2] = 1
        } else {
            allocate t[int32, out[1]:int32] in heap memory(block:handle)
            t[out[0]] = 5
            out[0] = t[out[3]:int32]:int32
            evaluate extern NRT_Free(block:handle):int32
        }
    )"));
    module.linked.needs_device_runtime = true;
    module.linked.functions["NRT_Allocate"] = {Handle(), {UInt(64)}};
    module.linked.functions["NRT_Free"] = {Type(), {Handle()}};
    const DeviceCode code = compile(module);
    EXPECT_EQ(code.flags, uint32_t(CALOTYPE_MOD_NRT));
    const std::string &ptx = code.images[0].bytes;
    // Where clang has made bitcode of the device runtime, nothing is left to be called.
    const LinkableData runtime = device_runtime_linkable(false);
    const bool is_bitcode =
        std::any_of(runtime.images.begin(), runtime.images.end(),
                    [](const LinkableImage &image) { return image.kind == CALOTYPE_BITCODE; });
    for (const char *call : {".extern .func  (.param .b64 func_retval0) NRT_Allocate",
                             ".extern .func NRT_Free", "NRT_Allocate,", "NRT_Free,"}) {
        EXPECT_EQ(ptx.find(call) == std::string::npos, is_bitcode) << call << "\n" << ptx;
    }
    EXPECT_TRUE(defines(cubin_for(code, 90), "TheMSys"));
    // By way of CUDA C++ the same.
    NEEDS_INPUT("rng.ltoir");
    LinkableData rng = linkable_of("rng.ltoir");
    rng.lto = LtoMode::Require;
    module.linked.linkables = {rng};
    const DeviceCode lto = compile(module);
    EXPECT_EQ(lto.flags, uint32_t(CALOTYPE_MOD_NRT | CALOTYPE_MOD_LTO));
    EXPECT_TRUE(defines(cubin_for(lto, 90), "TheMSys"));
    EXPECT_FALSE(defines(cubin_for(lto, 90), "NRT_Free")) << "inlined";
}

TEST(Link, TheSameCodeEachTime) {
    for (const std::string form : {"rng.ptx", "rng.ltoir", "rng.cu", "rng.bc"}) {
        NEEDS_INPUT(form);
        LinkableData rng = linkable_of(form);
        rng.lto = form == "rng.ptx" ? LtoMode::Allow : LtoMode::Require;
        const DeviceModule module = calling_rng_next({rng});
        const DeviceCode first = compile(module, "x86-64-linux-cuda");
        const DeviceCode second = compile(module, "x86-64-linux-cuda");
        EXPECT_EQ(device_module_uid(module, first), device_module_uid(module, second)) << form;
        ASSERT_EQ(first.images.size(), second.images.size());
        for (size_t i = 0; i < first.images.size(); i++) {
            EXPECT_EQ(first.images[i].bytes, second.images[i].bytes) << form << " " << i;
        }
    }
}

TEST(Link, CodeOfThisSessionIsNotKept) {
    NEEDS_INPUT("rng.bc");
    LinkableData rng = linkable_of("rng.bc");
    rng.is_session_dependent = true;
    const DeviceCode code = compile_device_module(calling_rng_next({rng}),
                                                  Target("x86-64-linux-cuda-cuda_capability_90"));
    EXPECT_EQ(code.flags, uint32_t(CALOTYPE_MOD_SESSION_DEPENDENT));
}

}  // namespace
}  // namespace calotype::internal
