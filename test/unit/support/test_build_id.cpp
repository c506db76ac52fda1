// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cstdlib>

#include "support/build_id.h"

namespace calotype::internal {
namespace {

TEST(BuildId, TellsModulesApart) {
    static const int own = 0;
    const std::string program = build_id_of(&own);
    const std::string library = build_id_of(reinterpret_cast<const void *>(&std::getenv));
    EXPECT_GE(program.size(), 16u);
    EXPECT_GE(library.size(), 16u);
    EXPECT_NE(program, library);
    EXPECT_EQ(program, build_id_of(reinterpret_cast<const void *>(&build_id_of)));
    int local = 0;
    EXPECT_EQ(build_id_of(&local), "") << "no module has it";
}

}  // namespace
}  // namespace calotype::internal
