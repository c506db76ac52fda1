// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names in scopes differ from those of objects that were there before.
#include <gtest/gtest.h>

#include "support/text.h"

namespace calotype::internal {
namespace {

/// Made as the program starts, as global objects of a generator are.
const std::string early_numbered = unique_name('w'), early = unique_name("early name");

TEST(NameScopes, do_not_repeat_names_of_global_objects) {
    const UniqueNameScope scope;
    EXPECT_NE(unique_name('w'), early_numbered);
    EXPECT_NE(unique_name("early name"), early);
}

TEST(NameScopes, give_the_same_names_each_time) {
    std::string first;
    for (int i = 0; i < 3; i++) {
        const UniqueNameScope scope;
        const std::string name = unique_name('w');
        first = i == 0 ? name : first;
        EXPECT_EQ(name, first);
    }
}

}  // namespace
}  // namespace calotype::internal
