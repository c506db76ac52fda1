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
    const LinkableData runtime = internal::device_runtime_linkable();
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

}  // namespace
