// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Links by the real nvJitLink, which needs no driver and no device: each pair of forms that kernels
// and a library can have, and each way to fail. What is made is looked at as an ELF file.
#include <gtest/gtest.h>

#include "link_inputs.h"
#include "runtime/cuda/build_image_link.h"
#include "runtime/device/failure.h"

using namespace calotype::runtime;
using namespace calotype_test;

namespace {

class NvJitLink : public testing::Test {
protected:
    ModuleUnderTest module;

    void SetUp() override {
        if (link_input("done").empty() && link_input("add.ptx").empty()) {
            GTEST_SKIP() << "there was no nvcc to make device code with";
        }
        if (!find_nvjitlink(13000)) {
            GTEST_SKIP() << "libnvJitLink.so.13 is not found";
        }
    }
    void kernels_as_ptx() {
        module.add_image(CALOTYPE_PTX, 90, 0, link_input("kernel.ptx"));
    }
    void kernels_as_lto_ir() {
        module.add_image(CALOTYPE_LTOIR, 90, 0, link_input("kernel.ltoir"));
    }
    void library(calotype_kind kind, const std::string &file, uint32_t sm = 90,
                 uint32_t flags = 0) {
        module.add_linkable("rng", kind, sm, link_input(file), flags);
    }
    Built build_for(uint32_t sm) {
        return build(module, make_arch(sm));
    }
    void expect_linked(bool lto_missed) {
        const Built built = build_for(90);
        EXPECT_EQ(built.status, CALOTYPE_OK) << built.log;
        EXPECT_EQ(built.bytes.substr(0, 4), "\177ELF");
        EXPECT_EQ(built.image.kind, CALOTYPE_CUBIN);
        EXPECT_TRUE(built.image.was_built && built.image.was_linked && built.image.persistable);
        EXPECT_EQ(built.image.lto_missed, lto_missed);
        bytes = built.bytes;
    }
    bool calls_add_ext() const {
        return bytes.find("add_ext") != std::string::npos;
    }
    /** Fails, with a log that begins so. */
    void expect_failure(calotype_status status, const std::string &begin) {
        const Built built = build_for(90);
        EXPECT_EQ(built.status, status);
        EXPECT_EQ(built.log.substr(0, begin.size()), begin);
        log = built.log;
    }
    std::string bytes, log;
};

TEST_F(NvJitLink, PtxAloneBecomesACubin) {
    module.add_image(CALOTYPE_PTX, 90, 0, link_input("add.ptx"));
    const Built built = build_for(90);
    EXPECT_EQ(built.status, CALOTYPE_OK) << built.log;
    EXPECT_EQ(built.bytes.substr(0, 4), "\177ELF");
    EXPECT_TRUE(built.image.was_built);
    EXPECT_FALSE(built.image.was_linked);
}

TEST_F(NvJitLink, DescribesItself) {
    DeviceArch arch = {};
    describe_build_tools({13000, nullptr}, &arch);
    EXPECT_EQ(std::string(arch.toolchain).substr(0, 13), "nvJitLink 13.");
}

TEST_F(NvJitLink, OfAnotherMajorVersionThanTheDriverIsNotUsed) {
    EXPECT_FALSE(find_nvjitlink(12080));
    DeviceArch arch = {};
    describe_build_tools({12080, nullptr}, &arch);
    EXPECT_STREQ(arch.toolchain, "driver 12080");
}

// L1.
TEST_F(NvJitLink, PtxWithLibrariesOfAllKinds) {
    const struct {
        calotype_kind kind;
        const char *file;
    } libraries[] = {{CALOTYPE_PTX, "add.ptx"},
                     {CALOTYPE_CUBIN, "add.cubin"},
                     {CALOTYPE_OBJECT, "add.o"},
                     {CALOTYPE_ARCHIVE, "add.a"},
                     {CALOTYPE_FATBIN, "add.fatbin"}};
    for (const auto &each : libraries) {
        SCOPED_TRACE(each.file);
        module = ModuleUnderTest();
        kernels_as_ptx();
        library(each.kind, each.file);
        expect_linked(false);
        EXPECT_TRUE(calls_add_ext());
    }
}

// Code need not be made for debugging to be linked so.
TEST_F(NvJitLink, ForDebugging) {
    for (const char *file : {"kernel.ptx", "kernel.ltoir"}) {
        SCOPED_TRACE(file);
        module = ModuleUnderTest();
        module.desc.flags = CALOTYPE_MOD_DEBUG;
        const bool is_ptx = file == std::string("kernel.ptx");
        is_ptx ? kernels_as_ptx() : kernels_as_lto_ir();
        library(CALOTYPE_PTX, "add.ptx");
        expect_linked(false);
        EXPECT_TRUE(calls_add_ext());
    }
}

// L1.
TEST_F(NvJitLink, AFatbinWithLtoIrWhereLtoIsForbidden) {
    kernels_as_ptx();
    library(CALOTYPE_FATBIN, "multi.fatbin", 0, CALOTYPE_LK_LTO_NEVER);
    const Built built = build_for(90);
    EXPECT_EQ(built.status, CALOTYPE_OK) << built.log;
    EXPECT_FALSE(built.image.lto_missed);
}

// L2.
TEST_F(NvJitLink, LtoIrAloneWhereLtoIsForbidden) {
    kernels_as_ptx();
    library(CALOTYPE_LTOIR, "add.ltoir", 90, CALOTYPE_LK_LTO_NEVER);
    expect_failure(CALOTYPE_E_LINK,
                   "linkable 'rng' has no code that links for sm_90: it holds LTO-IR sm_90, and "
                   "LTO-IR links only with LTO, which it forbids (lto=never); allow it, or add PTX "
                   "or a cubin\n");
}

// L3.
TEST_F(NvJitLink, LtoRequiredWithoutLtoIr) {
    kernels_as_lto_ir();
    library(CALOTYPE_PTX, "add.ptx", 90, CALOTYPE_LK_LTO_REQUIRED);
    expect_failure(CALOTYPE_E_LINK, "linkable 'rng' requires LTO (lto=require), but it holds no "
                                    "LTO-IR itself; with lto=allow it links without being "
                                    "inlined\n");
}

TEST_F(NvJitLink, LtoRequiredOfKernelsWithoutLtoIr) {
    kernels_as_ptx();
    library(CALOTYPE_LTOIR, "add.ltoir", 90, CALOTYPE_LK_LTO_REQUIRED);
    expect_failure(CALOTYPE_E_LINK,
                   "linkable 'rng' requires LTO (lto=require), but the kernels are "
                   "not embedded as LTO-IR; with lto=allow it links without being "
                   "inlined\n");
}

// L4.
TEST_F(NvJitLink, PtxWithLtoIrLinksButIsNotInlined) {
    for (const char *file : {"add.ltoir", "multi.fatbin"}) {
        SCOPED_TRACE(file);
        module = ModuleUnderTest();
        kernels_as_ptx();
        library(std::string(file) == "add.ltoir" ? CALOTYPE_LTOIR : CALOTYPE_FATBIN, file);
        expect_linked(true);
        EXPECT_TRUE(calls_add_ext());
    }
}

// L5.
TEST_F(NvJitLink, LtoIrWithMachineCodeKeepsTheCall) {
    const struct {
        calotype_kind kind;
        const char *file;
    } libraries[] = {{CALOTYPE_PTX, "add.ptx"},
                     {CALOTYPE_CUBIN, "add.cubin"},
                     {CALOTYPE_OBJECT, "add.o"},
                     {CALOTYPE_ARCHIVE, "add.a"}};
    for (const auto &each : libraries) {
        SCOPED_TRACE(each.file);
        module = ModuleUnderTest();
        kernels_as_lto_ir();
        library(each.kind, each.file);
        expect_linked(false);
        EXPECT_TRUE(calls_add_ext());
    }
}

// The symbol is not in the cubin.
// L6, L13.
TEST_F(NvJitLink, LtoIrWithLtoIrInlines) {
    const struct {
        calotype_kind kind;
        const char *file;
        uint32_t sm;
    } libraries[] = {{CALOTYPE_LTOIR, "add.ltoir", 90},
                     {CALOTYPE_LTOIR, "old.ltoir", 80},
                     {CALOTYPE_FATBIN, "multi.fatbin", 0}};
    for (const auto &each : libraries) {
        SCOPED_TRACE(each.file);
        module = ModuleUnderTest();
        kernels_as_lto_ir();
        library(each.kind, each.file, each.sm, CALOTYPE_LK_LTO_REQUIRED);
        expect_linked(false);
        EXPECT_FALSE(calls_add_ext());
    }
}

TEST_F(NvJitLink, KernelsAreTakenAsLtoIrOnlyWhereItServes) {
    kernels_as_ptx();
    kernels_as_lto_ir();
    library(CALOTYPE_LTOIR, "add.ltoir");
    module.add_to_linkable(CALOTYPE_CUBIN, 90, link_input("add.cubin"));
    expect_linked(false);
    EXPECT_FALSE(calls_add_ext());
    module = ModuleUnderTest();
    kernels_as_ptx();
    kernels_as_lto_ir();
    library(CALOTYPE_LTOIR, "add.ltoir", 90, CALOTYPE_LK_LTO_NEVER);
    module.add_to_linkable(CALOTYPE_CUBIN, 90, link_input("add.cubin"));
    expect_linked(false);
    EXPECT_TRUE(calls_add_ext());
}

// L7.
TEST_F(NvJitLink, LtoIrThatIsNewerThanTheTarget) {
    kernels_as_lto_ir();
    library(CALOTYPE_LTOIR, "new.ltoir", 100);
    expect_failure(CALOTYPE_E_LINK,
                   "linkable 'rng' has no code that links for sm_90: it holds LTO-IR sm_100, and "
                   "LTO-IR must not be newer than the target; build it for sm_90 or older\n");
}

// L8.
TEST_F(NvJitLink, MachineCodeOfAnotherArchitecture) {
    kernels_as_ptx();
    library(CALOTYPE_CUBIN, "add80.cubin", 80);
    expect_failure(CALOTYPE_E_LINK, "linkable 'rng' has no code that links for sm_90: it holds "
                                    "cubin sm_80; add PTX, or a cubin of that architecture\n");
    module = ModuleUnderTest();
    kernels_as_ptx();
    library(CALOTYPE_FATBIN, "add80.fatbin", 0);
    expect_failure(CALOTYPE_E_LINK,
                   "linkable 'rng': fatbin does not link for sm_90; it is damaged, "
                   "or made for other architectures: build it for this one, or "
                   "add PTX\nnvJitLink answered ");
}

// Of several fatbins that one is taken whose architecture fits.
// L8.
TEST_F(NvJitLink, FatbinsOfOneArchitectureEach) {
    kernels_as_ptx();
    library(CALOTYPE_FATBIN, "add80.fatbin", 80);
    expect_failure(CALOTYPE_E_LINK, "linkable 'rng' has no code that links for sm_90: it holds "
                                    "fatbin sm_80; add PTX, or a cubin of that architecture\n");
    module.add_to_linkable(CALOTYPE_FATBIN, 90, link_input("add.fatbin"));
    expect_linked(false);
    EXPECT_TRUE(calls_add_ext());
}

// L9.
TEST_F(NvJitLink, AFunctionThatNobodyDefines) {
    kernels_as_ptx();
    expect_failure(CALOTYPE_E_LINK,
                   "module 'blur': device function 'add_ext' is not defined by the "
                   "kernels or by any of the 0 linkables; add the linkable that "
                   "defines it\nnvJitLink answered 6:\n");
}

/// nvJitLink itself says so on the console and goes on with one of them.
TEST_F(NvJitLink, ANameThatTwoDefine) {
    const struct {
        calotype_kind kind;
        const char *file;
    } forms[] = {{CALOTYPE_PTX, "add.ptx"}, {CALOTYPE_CUBIN, "add.cubin"}};
    for (const auto &one : forms) {
        for (const auto &other : forms) {
            SCOPED_TRACE(std::string(one.file) + " " + other.file);
            module = ModuleUnderTest();
            kernels_as_ptx();
            library(one.kind, one.file);
            module.add_linkable("other", other.kind, 90, link_input(other.file));
            expect_failure(CALOTYPE_E_LINK,
                           "linkable 'rng' and linkable 'other' both define 'add_ext'; rename one "
                           "of them, or leave it out\n");
        }
    }
    module = ModuleUnderTest();
    kernels_as_ptx();
    module.add_linkable("rng", CALOTYPE_PTX, 90, link_input("kernel.ptx"));
    expect_failure(CALOTYPE_E_LINK, "module 'blur' and linkable 'rng' both define 'kernel'; ");
    module = ModuleUnderTest();
    kernels_as_ptx();
    library(CALOTYPE_PTX, "add.ptx");
    const std::string head = ".version 8.0\n.target sm_90\n.address_size 64\n";
    module.add_linkable("a", CALOTYPE_PTX, 90,
                        head + "/* .visible .func no */ .visible .global .align 4 .b32 v[2];\n"
                               ".weak .func add_ext() { ret; } .func kernel2() { ret; }\n");
    module.add_linkable("b", CALOTYPE_PTX, 90,
                        head + ".visible .const .b32 w; .visible .func (.param .b32 r) v() "
                               "{ ret; }\n");
    expect_failure(CALOTYPE_E_LINK, "linkable 'a' and linkable 'b' both define 'v'; ");
    // Of several, the first one is named; a name that is declared as well is not twice there.
    module = ModuleUnderTest();
    kernels_as_ptx();
    const auto functions = [&](int from, int to) {
        std::string ptx = head;
        for (int i = from; i != to; i += from < to ? 1 : -1) {
            const std::string f = ".visible .func f" + std::to_string(i);
            ptx += f + "();\n" + f + "() { ret; }\n";
        }
        return ptx;
    };
    module.add_linkable("a", CALOTYPE_PTX, 90, functions(0, 1000));
    module.add_linkable("b", CALOTYPE_PTX, 90, functions(1000, 2000));
    module.add_linkable("c", CALOTYPE_PTX, 90, functions(1700, 300));
    module.add_linkable("d", CALOTYPE_PTX, 90, functions(0, 10));
    expect_failure(CALOTYPE_E_LINK, "linkable 'b' and linkable 'c' both define 'f1700'; ");
}

TEST_F(NvJitLink, ALinkableByTwoRoutesIsLinkedOnce) {
    kernels_as_ptx();
    library(CALOTYPE_PTX, "add.ptx");
    const calotype_module_desc &one = module.get();
    const calotype_linkable_desc *twice[] = {one.linkables[0], one.linkables[0]};
    calotype_module_desc desc = one;
    desc.linkables = twice;
    desc.n_linkables = 2;
    LoadableImage image = {};
    const FailureScope failures;
    EXPECT_EQ(build_image({13000, nullptr}, make_arch(90), desc, &image), CALOTYPE_OK)
        << failure_text();
    free(const_cast<void *>(image.bytes));
}

// L14.
TEST_F(NvJitLink, TheDeviceRuntimeWithoutItsFlag) {
    kernels_as_ptx();
    library(CALOTYPE_PTX, "nrt.ptx");
    expect_failure(CALOTYPE_E_LINK,
                   "module 'blur': device function 'NRT_Allocate' belongs to the "
                   "device runtime, which is not linked; add 'nrt' to the linkable "
                   "that calls it\n");
}

TEST_F(NvJitLink, PtxThatDoesNotAssemble) {
    std::string ptx = link_input("kernel.ptx");
    ptx.replace(ptx.find("ld.global"), 9, "ld.gobble");
    module.add_image(CALOTYPE_PTX, 90, 0, ptx);
    expect_failure(CALOTYPE_E_COMPILE, "module 'blur': PTX sm_90 does not assemble for sm_90\n"
                                       "nvJitLink answered 4:\n");
    EXPECT_NE(log.find("error"), std::string::npos);
}

TEST_F(NvJitLink, PtxOfALinkableThatDoesNotAssemble) {
    kernels_as_ptx();
    module.add_linkable("rng", CALOTYPE_PTX, 90, ".version 8.0\n.target sm_90\nnonsense\n");
    expect_failure(CALOTYPE_E_COMPILE,
                   "linkable 'rng': PTX sm_90 does not assemble for sm_90\nnvJitLink answered ");
}

TEST_F(NvJitLink, WhatIsCutOffIsRefusedBeforeALinkerSeesIt) {
    const struct {
        calotype_kind kind;
        const char *file, *name;
    } libraries[] = {{CALOTYPE_CUBIN, "add.cubin", "cubin sm_90"},
                     {CALOTYPE_FATBIN, "multi.fatbin", "fatbin sm_90"}};
    for (const auto &each : libraries) {
        const std::string whole = link_input(each.file);
        for (size_t size : {whole.size() - 1, whole.size() / 2, size_t(70), size_t(4), size_t(0)}) {
            SCOPED_TRACE(std::string(each.file) + " " + std::to_string(size));
            module = ModuleUnderTest();
            kernels_as_ptx();
            module.add_linkable("rng", each.kind, 90, whole.substr(0, size));
            expect_failure(CALOTYPE_E_LINK,
                           std::string("linkable 'rng': ") + each.name +
                               " is damaged: it ends before what its header tells of; build it "
                               "again\n");
        }
    }
}

TEST_F(NvJitLink, LtoIrThatIsCutOffDoesNotLink) {
    kernels_as_lto_ir();
    const std::string whole = link_input("add.ltoir");
    module.add_linkable("rng", CALOTYPE_LTOIR, 90, whole.substr(0, whole.size() / 2));
    EXPECT_EQ(build_for(90).status, CALOTYPE_E_LINK);
}

TEST_F(NvJitLink, AnOptionalLinkableWithoutFittingCodeIsLeftOut) {
    module.add_image(CALOTYPE_PTX, 90, 0, link_input("add.ptx"));
    library(CALOTYPE_CUBIN, "add80.cubin", 80, CALOTYPE_LK_OPTIONAL);
    const Built built = build_for(90);
    EXPECT_EQ(built.status, CALOTYPE_OK) << built.log;
    EXPECT_FALSE(built.image.was_linked);
}

}  // namespace
