// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What PTX defines, as opposed to what it declares or says in comments.
#include <gtest/gtest.h>
#include <string>

#include "runtime/cuda/device_symbols.h"

using namespace calotype::runtime;

namespace {

void add_name(const char *name, size_t length, void *data) {
    *static_cast<std::string *>(data) += std::string(name, length) + " ";
}

std::string definitions(const std::string &ptx) {
    calotype_image image = {};
    image.kind = CALOTYPE_PTX;
    image.data = ptx.c_str();
    image.size = ptx.size();
    std::string names;
    EXPECT_TRUE(for_each_definition(image, [&](const char *name, size_t length) {
        add_name(name, length, &names);
        return true;
    }));
    return names;
}

std::string kernels(const char *ptx) {
    std::string names;
    find_ptx_kernels(ptx, add_name, &names);
    return names;
}

TEST(DeviceSymbols, DeclarationsAreNone) {
    EXPECT_EQ("", definitions(".visible .func f;"));
    EXPECT_EQ("", definitions(".visible .func (.param .b32 r) f (.param .b32 a);"));
    EXPECT_EQ("f ", definitions(".visible .func f; .visible .func f { ret; }"));
    EXPECT_EQ("v g k ", definitions(".visible .global .align 4 .b32 v;\n"
                                    ".visible .func (.param .b32 r) g (.param .b32 a)\n{ ret; }\n"
                                    ".visible .entry k() .maxntid 32, 1, 1 { ret; }"));
    EXPECT_EQ("v g k ", definitions(".visible.global.align 4.b32 v;.visible.func(.param.b32 r)g("
                                    ".param.b32 a){ret;}.visible.entry k(){ret;}"));
}

TEST(DeviceSymbols, KernelsOfAText) {
    EXPECT_EQ("a b ", kernels(".visible .entry a() { ret; }\n.entry b { ret; }\n"));
    EXPECT_EQ("a ",
              kernels("// .entry no { }\n/* .entry nor { } */ .entry\n a(.param .b32 x) { }"));
    EXPECT_EQ("a ", kernels(".extern .entry b(); .entry c; .entry a() { ret; }"));
    EXPECT_EQ("", kernels(".entry"));
    EXPECT_EQ("", kernels(".entry a()"));
}

}  // namespace
