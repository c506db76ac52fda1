// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <filesystem>

#include "support/error.h"
#include "support/file.h"

namespace calotype::internal {
namespace {

int files_in(const std::string &folder) {
    int n = 0;
    for ([[maybe_unused]] const auto &entry : std::filesystem::directory_iterator(folder)) {
        n++;
    }
    return n;
}

TEST(File, WhatIsWrittenIsRead) {
    TemporaryDirectory folder;
    const std::string path = folder.path() + "/a";
    const std::string data("one\0two\r\n", 9);
    write_file_atomically(path, data);
    EXPECT_EQ(read_file(path), data);
    write_file_atomically(path, "");
    EXPECT_EQ(read_file(path), "");
    EXPECT_EQ(files_in(folder.path()), 1);
}

TEST(File, FailureLeavesNothingBehind) {
    TemporaryDirectory folder;
    make_directories(folder.path() + "/taken/full");
    EXPECT_THROW(write_file_atomically(folder.path() + "/taken", "x"), CompileError);
    EXPECT_EQ(files_in(folder.path()), 1);
    EXPECT_THROW(write_file_atomically(folder.path() + "/none/a", "x"), CompileError);
}

TEST(File, MissingFileIsNamed) {
    try {
        read_file("/nowhere/at/all");
        FAIL() << "no error";
    } catch (const CompileError &e) {
        EXPECT_STREQ(e.what(), "cannot read /nowhere/at/all: No such file or directory");
    }
}

TEST(File, TemporariesGoAway) {
    std::string file, folder;
    {
        TemporaryFile f(".o");
        TemporaryDirectory d;
        file = f.path();
        folder = d.path();
        write_file_atomically(folder + "/x", "x");
        EXPECT_TRUE(file_exists(file));
        EXPECT_EQ(file.substr(file.size() - 2), ".o");
    }
    EXPECT_FALSE(file_exists(file));
    EXPECT_FALSE(file_exists(folder));
}

TEST(File, NameOfPath) {
    EXPECT_EQ(file_name_of("/a/b.c"), "b.c");
    EXPECT_EQ(file_name_of("b.c"), "b.c");
    EXPECT_EQ(file_name_of("a/"), "");
}

}  // namespace
}  // namespace calotype::internal
