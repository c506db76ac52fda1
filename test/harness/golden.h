// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests as files: text in, expected text under it. Run a test executable with --update to put what
// comes out now in place of what was expected; then read the difference before committing it.
//
// A file holds lines of comment that begin with "//", the input, a line of three or more dashes,
// and the expected output:
//
//     // a loop over one iteration is its body
//     for (x, 0, 1) { f(x) = 1 }
//     ----
//     f(0) = 1
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace calotype::test {

/// Whether this run rewrites expectations.
bool is_updating();

/// The files below `folder` that end with `suffix`, sorted.
std::vector<std::string> golden_files(const std::string &folder, const std::string &suffix);

/// Runs the input of the file through `transform` and compares. White space at the end of lines and
/// of the text does not count. An error that `transform` throws is its output: "error: ...".
::testing::AssertionResult
check_golden_file(const std::string &path,
                  const std::function<std::string(const std::string &)> &transform);

/// Compares with the whole content of a file that holds nothing else.
::testing::AssertionResult check_against_file(const std::string &path, const std::string &actual);

/// A name for a parameterized test, made of the path below the test folder.
std::string test_name_of(const std::string &path, const std::string &folder);

}  // namespace calotype::test
