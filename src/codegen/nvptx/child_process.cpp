// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     parent   program and request to files in memory, pipe, spawn, read all, wait
//     child    read all, work, write all, end
//
// A file in memory has a path below /proc. Where such files cannot be run, the program lies in a
// temporary folder.
#include "codegen/nvptx/child_process.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "codegen/nvptx/link_worker.h"
#include "support/embed_file.h"
#include "support/file.h"

extern char **environ;

// The program, as the build made it.
CALOTYPE_EMBED_FILE(calotype_link_worker, CALOTYPE_LINK_WORKER);

namespace calotype::internal {

namespace {

std::string_view program() {
    return {calotype_link_worker_begin,
            size_t(calotype_link_worker_end - calotype_link_worker_begin)};
}

/// A file descriptor that is closed at the end.
class File {
public:
    explicit File(int number = -1) : number_(number) {
    }
    ~File() {
        close();
    }
    File(const File &) = delete;
    File &operator=(const File &) = delete;

    int number() const {
        return number_;
    }
    void close() {
        if (number_ >= 0) {
            ::close(number_);
        }
        number_ = -1;
    }

private:
    int number_;
};

bool write_all(int file, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = write(file, bytes.data(), bytes.size());
        if (written < 0 && errno != EINTR) {
            return false;
        }
        bytes.remove_prefix(written > 0 ? size_t(written) : 0);
    }
    return true;
}

std::string read_all(int file) {
    std::string bytes;
    char part[65536];
    ssize_t size = 0;
    while ((size = read(file, part, sizeof part)) > 0 || (size < 0 && errno == EINTR)) {
        bytes.append(part, size > 0 ? size_t(size) : 0);
    }
    return bytes;
}

/// How it ended; "" if well, or if somebody else has waited for it.
std::string wait_for(pid_t child) {
    int status = 0;
    pid_t ended = 0;
    do {
        ended = waitpid(child, &status, 0);
    } while (ended < 0 && errno == EINTR);
    if (ended != child) {
        return "";
    }
    if (WIFSIGNALED(status)) {
        const int number = WTERMSIG(status);
        return "signal " + std::to_string(number) + " (" + strsignal(number) + ")";
    }
    return WEXITSTATUS(status) ? "exit status " + std::to_string(WEXITSTATUS(status)) : "";
}

/// Starts the program at the path; false if that cannot be.
bool spawn(const std::string &path, int request, int answer, pid_t *child) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, request, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, answer, ct_worker_answer_file);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    std::string name = "calotype-link";
    char *argv[] = {name.data(), nullptr};
    const int failed = posix_spawn(child, path.c_str(), &actions, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failed == 0;
}

/// From memory, else from a file.
bool start(int request, int answer, pid_t *child) {
    const File memory(memfd_create("calotype-link", MFD_CLOEXEC));
    const std::string in_memory = "/proc/self/fd/" + std::to_string(memory.number());
    if (memory.number() >= 0 && write_all(memory.number(), program()) &&
        spawn(in_memory, request, answer, child)) {
        return true;
    }
    TemporaryDirectory folder;
    const std::string path = folder.path() + "/calotype-link";
    write_file_atomically(path, program());
    return chmod(path.c_str(), 0700) == 0 && spawn(path, request, answer, child);
}

}  // namespace

ChildResult run_link_worker(const std::string &request) {
    ChildResult result;
    const File question(memfd_create("calotype-request", MFD_CLOEXEC));
    int ends[2];
    if (question.number() < 0 || !write_all(question.number(), request) ||
        lseek(question.number(), 0, SEEK_SET) != 0 || pipe2(ends, O_CLOEXEC) != 0) {
        return result;
    }
    const File in(ends[0]);
    File out(ends[1]);
    pid_t child = 0;
    result.has_run = start(question.number(), out.number(), &child);
    out.close();
    if (result.has_run) {
        result.bytes = read_all(in.number());
        result.crash = wait_for(child);
    }
    return result;
}

}  // namespace calotype::internal
