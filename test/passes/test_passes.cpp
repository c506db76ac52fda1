// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs every test/passes/<pass>/<behaviour>.ir through its pass.
#include <gtest/gtest.h>

#include <filesystem>

#include "harness/golden.h"
#include "ir/printer.h"
#include "ir/verifier.h"
#include "passes/pass_input.h"
#include "passes/pass_table.h"

namespace calotype::test {

using namespace internal;

namespace {

class PassTest : public ::testing::TestWithParam<std::string> {};

TEST_P(PassTest, Golden) {
    const std::filesystem::path file = std::filesystem::relative(GetParam(), CALOTYPE_TEST_DIR);
    const std::string pass_name = file.begin()->string();
    const Pass pass = find_pass(pass_name);
    ASSERT_TRUE(pass) << "no pass " << pass_name;
    EXPECT_TRUE(check_golden_file(GetParam(), [&](const std::string &input) {
        const PassInput given = read_pass_input(input, pass_name);
        const Stmt after = pass(given.before, *given.ctx);
        verify(after, VerifyOptions(), pass_name);
        return to_string(after);
    }));
}

TEST(Passes, HaveTests) {
    for (const std::string &pass : all_passes()) {
        EXPECT_TRUE(std::filesystem::is_directory(CALOTYPE_TEST_DIR "/" + pass)) << pass;
    }
}

INSTANTIATE_TEST_SUITE_P(All, PassTest, ::testing::ValuesIn(golden_files(CALOTYPE_TEST_DIR, ".ir")),
                         [](const auto &info) {
                             return test_name_of(info.param, CALOTYPE_TEST_DIR);
                         });

}  // namespace

}  // namespace calotype::test
