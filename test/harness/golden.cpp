// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "harness/golden.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "support/error.h"
#include "support/file.h"
#include "support/text.h"

namespace calotype::test {

using namespace internal;

using internal::ends_with;
using internal::read_file;
using internal::starts_with;
using internal::write_file_atomically;

namespace {

struct GoldenFile {
    std::string comment, input, separator = "----", expected;
};

bool is_separator(const std::string &line) {
    return line.size() >= 3 && line.find_first_not_of('-') == std::string::npos;
}

/// Without white space at the end of each line, and of the whole.
std::string tidy(const std::string &text) {
    std::istringstream lines(text);
    std::string line, out;
    while (std::getline(lines, line)) {
        line.erase(line.find_last_not_of(" \t\r") + 1);
        out += line + "\n";
    }
    out.erase(out.find_last_not_of('\n') + 1);
    return out.empty() ? out : out + "\n";
}

GoldenFile parse(const std::string &text) {
    GoldenFile file;
    std::istringstream lines(text);
    std::string line;
    bool in_expected = false;
    while (std::getline(lines, line)) {
        if (!in_expected && is_separator(line)) {
            file.separator = line;
            in_expected = true;
        } else if (in_expected) {
            file.expected += line + "\n";
        } else if (file.input.empty() && starts_with(line, "//")) {
            file.comment += line + "\n";
        } else {
            file.input += line + "\n";
        }
    }
    return file;
}

std::string first_difference(const std::string &expected, const std::string &actual) {
    std::istringstream a(expected), b(actual);
    std::string left, right;
    for (int line = 1;; line++) {
        const bool more_left = bool(std::getline(a, left));
        const bool more_right = bool(std::getline(b, right));
        if (!more_left && !more_right) {
            return "";
        }
        if (left != right || more_left != more_right) {
            return "they differ in line " + std::to_string(line) +
                   ":\n  expected: " + (more_left ? left : "(the end)") +
                   "\n  actual:   " + (more_right ? right : "(the end)");
        }
    }
}

::testing::AssertionResult compare(const std::string &path, const std::string &expected,
                                   const std::string &actual) {
    if (expected == actual) {
        return ::testing::AssertionSuccess();
    }
    return ::testing::AssertionFailure()
           << path << ": " << first_difference(expected, actual) << "\n--- all of it:\n"
           << actual << "--- (run with --update to accept it)";
}

}  // namespace

bool is_updating() {
    return std::getenv("CALOTYPE_TEST_UPDATE") != nullptr;
}

std::vector<std::string> golden_files(const std::string &folder, const std::string &suffix) {
    std::vector<std::string> files;
    for (const auto &entry : std::filesystem::recursive_directory_iterator(folder)) {
        if (entry.is_regular_file() && ends_with(entry.path().string(), suffix)) {
            files.push_back(entry.path().string());
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

::testing::AssertionResult
check_golden_file(const std::string &path,
                  const std::function<std::string(const std::string &)> &transform) {
    const GoldenFile file = parse(read_file(path));
    std::string actual;
    try {
        actual = tidy(transform(file.input));
    } catch (const Error &e) {
        actual = tidy(std::string("error: ") + e.what());
    }
    if (is_updating() && actual != tidy(file.expected)) {
        write_file_atomically(path, file.comment + file.input + file.separator + "\n" + actual);
        return ::testing::AssertionSuccess();
    }
    return compare(path, tidy(file.expected), actual);
}

::testing::AssertionResult check_against_file(const std::string &path, const std::string &actual) {
    if (is_updating()) {
        write_file_atomically(path, actual);
        return ::testing::AssertionSuccess();
    }
    return compare(path, read_file(path), actual);
}

std::string test_name_of(const std::string &path, const std::string &folder) {
    std::string name = std::filesystem::relative(path, folder).replace_extension().string();
    for (char &c : name) {
        c = std::isalnum((unsigned char)c) ? c : '_';
    }
    return name;
}

}  // namespace calotype::test
