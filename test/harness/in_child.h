// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A part of a test in a process of its own, which is a copy of this one.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <sys/wait.h>
#include <unistd.h>

namespace calotype_test {

/// What body() answers in a child, mostly a bit for each thing that is wrong. Negative: the number
/// of the signal that ended it, -SIGALRM after so many seconds.
template<typename Body>
int in_child(Body body, unsigned seconds = 10) {
    fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        alarm(seconds);
        _exit(body());
    }
    int status = -1;
    EXPECT_EQ(child, waitpid(child, &status, 0));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace calotype_test
