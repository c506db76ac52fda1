// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests in processes of their own: this executable once more, with a filter. What forks after a
// driver of a GPU has started finds no driver, so nothing but a new process will do.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <fcntl.h>
#include <ftw.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace calotype_test {

/// A folder of a test's own.
struct Folder {
    std::string path = testing::TempDir() + "calotype_test_XXXXXX";

    Folder() {
        EXPECT_NE(nullptr, mkdtemp(path.data()));
    }
    ~Folder() {
        nftw(
            path.c_str(),
            [](const char *entry, const struct stat *, int, FTW *) { return ::remove(entry); }, 8,
            FTW_DEPTH | FTW_PHYS);
    }
    Folder(const Folder &) = delete;
};

inline std::string read_whole_file(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// In such a process: the value of a setting, "" in any other.
inline std::string process_setting(const char *name) {
    const char *value = getenv(name);
    return value ? value : "";
}
inline bool is_process_of_test() {
    return !process_setting("CALOTYPE_PROCESS_REPORT").empty();
}
/// Tell it to the parent.
inline std::ofstream process_report() {
    return std::ofstream(process_setting("CALOTYPE_PROCESS_REPORT"), std::ios::app);
}

class Processes {
    Folder reports;
    std::vector<pid_t> running;

    std::string report(size_t i) const {
        return reports.path + "/" + std::to_string(i);
    }

public:
    /// Run the test of that name with settings "NAME=value".
    void start(const std::string &test, std::vector<std::string> settings = {}) {
        const std::string filter = "--gtest_filter=" + test;
        settings.push_back("CALOTYPE_PROCESS_REPORT=" + report(running.size()));
        std::vector<char *> variables;
        for (std::string &setting : settings) {
            variables.push_back(setting.data());
        }
        for (char **variable = environ; *variable; variable++) {
            variables.push_back(*variable);
        }
        variables.push_back(nullptr);
        char program[] = "/proc/self/exe";
        char *arguments[] = {program, const_cast<char *>(filter.c_str()), nullptr};
        posix_spawn_file_actions_t quietly;
        posix_spawn_file_actions_init(&quietly);
        posix_spawn_file_actions_addopen(&quietly, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        running.emplace_back();
        EXPECT_EQ(0, posix_spawn(&running.back(), program, &quietly, nullptr, arguments,
                                 variables.data()));
        posix_spawn_file_actions_destroy(&quietly);
    }
    /// What each reports, when all have ended; one that fails makes the test fail.
    std::vector<std::string> end() {
        std::vector<std::string> said;
        for (size_t i = 0; i < running.size(); i++) {
            int status = -1;
            EXPECT_EQ(running[i], waitpid(running[i], &status, 0));
            EXPECT_EQ(0, status);
            said.push_back(read_whole_file(report(i)));
            ::remove(report(i).c_str());
        }
        running.clear();
        return said;
    }
    std::string run(const std::string &test, std::vector<std::string> settings = {}) {
        start(test, std::move(settings));
        return end()[0];
    }
};

}  // namespace calotype_test
