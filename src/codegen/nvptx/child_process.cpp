// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     parent   pipe, fork, read all, wait
//     child                fork, work, write all, end
//
// The C library makes its own locks free in the child. There nothing of the parent is destroyed,
// no handler of signals runs, and no core is left.
#include "codegen/nvptx/child_process.h"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace calotype::internal {

namespace {

/// Work that takes longer hangs.
constexpr unsigned patience_s = 600;

bool write_all(int file, const std::string &bytes) {
    for (size_t at = 0; at < bytes.size();) {
        const ssize_t written = write(file, bytes.data() + at, bytes.size() - at);
        if (written < 0 && errno != EINTR) {
            return false;
        }
        at += written > 0 ? size_t(written) : 0;
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

[[noreturn]] void be_child(const std::function<std::string()> &work, int results) {
    for (int s : {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGINT, SIGTERM, SIGALRM}) {
        std::signal(s, SIG_DFL);
    }
    alarm(patience_s);
    const rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    bool ok = false;
    try {
        ok = write_all(results, work());
    } catch (...) {  // the parent tells that there is no result
    }
    _exit(ok ? 0 : 1);
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

}  // namespace

ChildResult run_in_child(const std::function<std::string()> &work,
                         std::unique_lock<std::shared_mutex> quiet) {
    ChildResult result;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return result;
    }
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        be_child(work, ends[1]);
    }
    close(ends[1]);  // before another child can inherit it
    quiet.unlock();
    if (child > 0) {
        result.has_run = true;
        result.bytes = read_all(ends[0]);
        result.crash = wait_for(child);
    }
    close(ends[0]);
    return result;
}

}  // namespace calotype::internal
