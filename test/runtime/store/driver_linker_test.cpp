// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is asked of the driver's linker where nvJitLink is missing, seen by one that only takes
// notes.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "link_inputs.h"

using namespace calotype::runtime;
using namespace calotype::runtime::cuda;
using namespace calotype_test;

namespace {

struct Notes {
    std::string calls;
    int failing_add = -1, failing_complete = 0;
    calotype_status enter = CALOTYPE_OK;
    char *error_log = nullptr;
};
Notes notes;

CUresult create(unsigned n_options, CUjit_option *options, void **values, CUlinkState *state) {
    notes.calls += "create ";
    for (unsigned i = 0; i < n_options; i++) {
        if (options[i] == 5) {
            notes.error_log = static_cast<char *>(values[i]);
        }
    }
    *state = reinterpret_cast<CUlinkState>(&notes);
    return CUDA_SUCCESS;
}

CUresult add(CUlinkState, CUjitInputType type, void *data, size_t size, const char *name, unsigned,
             CUjit_option *, void **) {
    notes.calls += "add(" + std::to_string(type) + " " + name + " " +
                   std::string(static_cast<char *>(data), size) + ") ";
    if (notes.failing_add-- == 0) {
        strcpy(notes.error_log, "ptxas fatal: syntax error");
        return CUDA_ERROR_INVALID_PTX;
    }
    return CUDA_SUCCESS;
}

CUresult complete(CUlinkState, void **cubin, size_t *size) {
    static char bytes[] = "linked";
    notes.calls += "complete ";
    *cubin = bytes;
    *size = 6;
    if (notes.failing_complete) {
        strcpy(notes.error_log, "error: Undefined reference to 'f' in 'blur'");
    }
    return CUresult(notes.failing_complete);
}

CUresult destroy(CUlinkState) {
    notes.calls += "destroy ";
    return CUDA_SUCCESS;
}

class DriverLinkerTest : public testing::Test {
protected:
    DeviceScope scope = {};
    DriverLinker linker = {create,
                           add,
                           complete,
                           destroy,
                           [](const DeviceScope &) {
                               notes.calls += "enter ";
                               return notes.enter;
                           },
                           [](const DeviceScope &) { notes.calls += "leave"; },
                           scope};
    ModuleUnderTest module;

    void SetUp() override {
        setenv("CT_NVJITLINK", "off", 1);
        notes = {};
        module.add_image(CALOTYPE_PTX, 80, 0, "kernels");
    }
    void TearDown() override {
        unsetenv("CT_NVJITLINK");
    }
};

TEST_F(DriverLinkerTest, NamesItselfForTheKey) {
    DeviceArch arch = {};
    describe_build_tools({13000, &linker}, &arch);
    EXPECT_STREQ(arch.toolchain, "driver 13000");
}

TEST_F(DriverLinkerTest, LinksInOrderWithinAContext) {
    module.add_linkable("a", CALOTYPE_CUBIN, 90,
                        link_input("add.cubin").empty() ? "" : link_input("add.cubin"));
    if (link_input("add.cubin").empty()) {
        GTEST_SKIP() << "there was no nvcc to make device code with";
    }
    module.add_linkable("b", CALOTYPE_ARCHIVE, 0, "archive");
    const Built built = build(module, make_arch(90), &linker);
    EXPECT_EQ(built.status, CALOTYPE_OK) << built.log;
    EXPECT_EQ(built.bytes, "linked");
    EXPECT_TRUE(built.image.owned && built.image.persistable && built.image.was_linked);
    const std::string expected = "enter create add(1 blur " + std::string("kernels\0", 8) +
                                 ") add(0 a " + link_input("add.cubin") +
                                 ") add(4 b archive) complete destroy leave";
    EXPECT_EQ(notes.calls, expected);
}

TEST_F(DriverLinkerTest, ReportsWhatDoesNotAssemble) {
    notes.failing_add = 0;
    const Built built = build(module, make_arch(90), &linker);
    EXPECT_EQ(built.status, CALOTYPE_E_COMPILE);
    EXPECT_EQ(built.log, "module 'blur': PTX sm_80 does not assemble for sm_90\n"
                         "the driver's linker answered 218:\nptxas fatal: syntax error\n");
    EXPECT_EQ(notes.calls.substr(notes.calls.size() - 13), "destroy leave");
}

TEST_F(DriverLinkerTest, ReportsWhatIsUndefined) {
    notes.failing_complete = 209;
    const Built built = build(module, make_arch(90), &linker);
    EXPECT_EQ(built.status, CALOTYPE_E_LINK);
    EXPECT_EQ(built.log,
              "module 'blur': device function 'f' is not defined by the kernels or by any of the 0 "
              "linkables; add the linkable that defines it\nthe driver's linker answered 209:\n"
              "error: Undefined reference to 'f' in 'blur'\n");
}

TEST_F(DriverLinkerTest, WithoutAContextNothingIsLinked) {
    notes.enter = CALOTYPE_E_CONTEXT_LOST;
    const Built built = build(module, make_arch(90), &linker);
    EXPECT_EQ(built.status, CALOTYPE_E_CONTEXT_LOST);
    EXPECT_EQ(notes.calls, "enter ");
}

TEST_F(DriverLinkerTest, KnowsNoLtoIr) {
    module.add_linkable("rng", CALOTYPE_LTOIR, 90, "lto");
    const Built built = build(module, make_arch(90), &linker);
    EXPECT_EQ(built.status, CALOTYPE_E_LINK);
    EXPECT_EQ(built.log,
              "linkable 'rng' has no code that links for sm_90: it holds LTO-IR sm_90, "
              "and LTO-IR links only by nvJitLink, which is not found; install it beside "
              "the driver, or add PTX or a cubin\n");
}

TEST_F(DriverLinkerTest, WithoutAnyLinkerPtxIsLoadedAsItIs) {
    const Built built = build(module, make_arch(90));
    EXPECT_EQ(built.status, CALOTYPE_OK);
    EXPECT_EQ(built.image.kind, CALOTYPE_PTX);
    EXPECT_EQ(built.bytes, "kernels");
    EXPECT_FALSE(built.image.owned || built.image.persistable || built.image.was_built);
}

TEST_F(DriverLinkerTest, WithoutAnyLinkerLinkablesDoNotLink) {
    module.add_linkable("rng", CALOTYPE_PTX, 80, "ptx");
    const Built built = build(module, make_arch(90));
    EXPECT_EQ(built.status, CALOTYPE_E_LINK);
    EXPECT_EQ(built.log, "module 'blur' must be linked with 1 linkables, but there is no linker: "
                         "nvJitLink is not found, and the driver offers none\n");
}

}  // namespace
