// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Linkables of every kind, linked into cubins when code is generated.
#include <gtest/gtest.h>

#include "codegen/linkables/linkable.h"
#include "codegen/linkables/linked.h"
#include "harness/cuda_home.h"
#include "ir/constants.h"
#include "runtime/abi/linkables.h"

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

// L1 to L6 and L12: a call that stays is a function in the cubin, an inlined one is not.
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

}  // namespace
}  // namespace calotype::internal
