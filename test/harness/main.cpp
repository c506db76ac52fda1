// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// main() of all test executables: GoogleTest's, and --update (see harness/golden.h). The IR is
// verified after every pass, whatever the build.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

int main(int argc, char **argv) {
    ::testing::InitGoogleTest(&argc, argv);
    setenv("CT_VERIFY", "1", 0);
    for (int i = 1; i < argc; i++) {
        if (std::string_view(argv[i]) == "--update") {
            setenv("CALOTYPE_TEST_UPDATE", "1", 1);
        }
    }
    return RUN_ALL_TESTS();
}
