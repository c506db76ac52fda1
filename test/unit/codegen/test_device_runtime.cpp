// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The device runtime as the generator links it: every form is what it says it is.
#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "codegen/device_runtime.h"

namespace {

using namespace calotype;

bool begins(const std::string &bytes, const std::string &with) {
    return bytes.compare(0, with.size(), with) == 0;
}

TEST(DeviceRuntime, FormsAreWhatTheySay) {
    const LinkableData runtime = internal::device_runtime_linkable(false);
    EXPECT_EQ("calotype_nrt", runtime.name);
    EXPECT_TRUE(runtime.setup.empty());
    EXPECT_FALSE(runtime.nrt);
    if (runtime.images.empty()) {
        GTEST_SKIP() << "built without a compiler for CUDA C++";
    }
    std::set<std::pair<int, uint32_t>> seen;
    bool has_text = false;
    for (const LinkableImage &image : runtime.images) {
        EXPECT_TRUE(seen.insert({int(image.kind), image.sm}).second) << image.origin;
        EXPECT_TRUE(begins(image.origin, "calotype_nrt")) << image.origin;
        switch (image.kind) {
        case CALOTYPE_PTX:
            has_text = true;
            EXPECT_NE(std::string::npos,
                      image.bytes.find(".target sm_" + std::to_string(image.sm)));
            EXPECT_NE(std::string::npos,
                      image.bytes.find(".visible .global .align 8 .u64 TheMSys"));
            EXPECT_NE(std::string::npos, image.bytes.find("NRT_MemInfo_varsize_realloc"));
            EXPECT_NE('\0', image.bytes.back());
            break;
        case CALOTYPE_CUBIN:
            EXPECT_TRUE(begins(image.bytes, "\177ELF"));
            EXPECT_EQ(1, image.bytes[16]) << image.origin << " must be relocatable";
            EXPECT_EQ(190, uint8_t(image.bytes[18]));
            break;
        case CALOTYPE_LTOIR:
            EXPECT_TRUE(begins(image.bytes, "\xed\x43\x4e\x7f"));
            break;
        case CALOTYPE_BITCODE:
            EXPECT_EQ(0u, image.sm);
            EXPECT_TRUE(begins(image.bytes, "BC\xc0\xde"));
            break;
        default:
            ADD_FAILURE() << image.origin << " is of kind " << int(image.kind);
        }
    }
    EXPECT_TRUE(has_text);
}

// PTX, which links for every architecture that is not older than the plain one's oldest.
TEST(DeviceRuntime, TheFormForDebugging) {
    const LinkableData plain = internal::device_runtime_linkable(false);
    const LinkableData debug = internal::device_runtime_linkable(true);
    EXPECT_EQ("calotype_nrt_debug", debug.name);
    EXPECT_TRUE(debug.setup.empty());
    EXPECT_FALSE(debug.nrt);
    if (plain.images.empty()) {
        EXPECT_TRUE(debug.images.empty());
        GTEST_SKIP() << "built without a compiler for CUDA C++";
    }
    ASSERT_EQ(1u, debug.images.size());
    const LinkableImage &image = debug.images[0];
    EXPECT_EQ(CALOTYPE_PTX, image.kind);
    EXPECT_EQ("calotype_nrt_debug.ptx", image.origin);
    for (const LinkableImage &form : plain.images) {
        EXPECT_TRUE(form.kind != CALOTYPE_PTX || form.sm >= image.sm) << form.origin;
        EXPECT_TRUE(form.kind != CALOTYPE_PTX || form.bytes.find("trap;") == std::string::npos)
            << form.origin;
    }
    EXPECT_NE(std::string::npos, image.bytes.find(".target sm_" + std::to_string(image.sm)));
    EXPECT_NE(std::string::npos, image.bytes.find(".visible .global .align 8 .u64 TheMSys"));
    EXPECT_NE(std::string::npos, image.bytes.find("trap;"));
}

}  // namespace
