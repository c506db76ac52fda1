// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The harness itself: a comparison that could not fail would make every golden test worthless.
#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>

#include "harness/expect_error.h"
#include "harness/golden.h"
#include "support/file.h"

namespace calotype::test {
namespace {

std::string upper(const std::string &text) {
    std::string out;
    for (char c : text) {
        out += char(std::toupper((unsigned char)c));
    }
    return out;
}

class Golden : public ::testing::Test {
protected:
    std::string file(const std::string &text) {
        const std::string path = folder.path() + "/a.ir";
        internal::write_file_atomically(path, text);
        return path;
    }
    internal::TemporaryDirectory folder;
};

TEST_F(Golden, EqualOutputPasses) {
    EXPECT_TRUE(check_golden_file(file("// about\nab\nc\n---\nAB\nC\n"), upper));
    EXPECT_TRUE(check_golden_file(file("ab\n---\nAB  \n\n"), upper)) << "spaces at ends";
}

TEST_F(Golden, OtherOutputFailsAndSaysWhere) {
    const auto result = check_golden_file(file("ab\nc\n---\nAB\nX\n"), upper);
    ASSERT_FALSE(result);
    const std::string text = result.message();
    EXPECT_NE(text.find("differ in line 2:\n  expected: X\n  actual:   C"), std::string::npos)
        << text;
    EXPECT_FALSE(check_golden_file(file("ab\n---\n"), upper));
    EXPECT_FALSE(check_golden_file(file("ab\n---\nAB\nCD\n"), upper));
}

TEST_F(Golden, ErrorsAreOutput) {
    const auto fails = [](const std::string &) -> std::string {
        throw CompileError("no such x");
    };
    EXPECT_TRUE(check_golden_file(file("ab\n---\nerror: no such x\n"), fails));
}

TEST_F(Golden, UpdateRewritesTheExpectationAlone) {
    const bool was_updating = is_updating();
    const std::string path = file("// about\nab\n---\nX\n");
    setenv("CALOTYPE_TEST_UPDATE", "1", 1);
    EXPECT_TRUE(check_golden_file(path, upper));
    if (!was_updating) {
        unsetenv("CALOTYPE_TEST_UPDATE");
    }
    EXPECT_EQ(internal::read_file(path), "// about\nab\n---\nAB\n");
}

TEST_F(Golden, FilesAreFoundAndNamed) {
    internal::make_directories(folder.path() + "/sub");
    internal::write_file_atomically(folder.path() + "/sub/a-b.ir", "");
    internal::write_file_atomically(folder.path() + "/sub/other.txt", "");
    const auto files = golden_files(folder.path(), ".ir");
    ASSERT_EQ(files.size(), 1u);
    EXPECT_EQ(test_name_of(files[0], folder.path()), "sub_a_b");
}

TEST(ExpectError, TellsKindsApart) {
    EXPECT_COMPILE_ERROR(user_error << "x is " << 1, "x is 1");
    EXPECT_EQ(error_of<CompileError>([] {}), "[no error]");
    EXPECT_EQ(error_of<CompileError>([] { throw RuntimeError("late"); }),
              "[an error of another kind: late]");
    EXPECT_INTERNAL_ERROR_CONTAINING(internal_assert(false) << "odd", "odd");
}

}  // namespace
}  // namespace calotype::test
