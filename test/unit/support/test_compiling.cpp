// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a process ends, and forks, in which threads compile.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include <gtest/gtest.h>

#include "support/compiling.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

std::atomic<bool> has_begun{false}, has_ended{false};

// What is registered before the first of the scopes is called after what they have registered.
void check_at_exit() {
    if (!has_ended) {
        _exit(1);
    }
}

void begin_and_end() {
    has_begun = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    has_ended = true;
}

void end_the_process_when_begun() {
    while (!has_begun) {
        std::this_thread::yield();
    }
    std::exit(0);
}

void compile_while_the_process_ends() {
    std::atexit(check_at_exit);
    std::thread([] {
        const CompilingScope compiling;
        begin_and_end();
    }).detach();
    end_the_process_when_begun();
}

void compile_within_a_function_of_the_user() {
    std::atexit(check_at_exit);
    std::thread([] {
        const CompilingScope compiling;
        const UsersFunctionScope users;
        {
            const CompilingScope inner;
            begin_and_end();
        }
        for (;;) {
            pause();
        }
    }).detach();
    end_the_process_when_begun();
}

void compile_on_the_thread_that_ends_the_process() {
    { const CompilingScope compiling; }
    std::atexit([] {
        const CompilingScope compiling;
        const auto work = [] {
            const CompilingScope for_ending(true);
        };
        std::thread(work).join();
    });
    const CompilingScope last;
    std::exit(0);
}

void join_a_thread_that_comes_too_late() {
    // Called after what the scope registers: the process is ending.
    std::atexit([] {
        bool is_refused = false;
        std::thread([&] {
            try {
                const CompilingScope compiling;
            } catch (const CompileError &) {
                is_refused = true;
            }
        }).join();
        _exit(is_refused ? 0 : 1);
    });
    { const CompilingScope compiling; }
    std::exit(2);
}

// The child makes what the other thread was making: a table that is made once.
int &table_that_takes_long() {
    static int table = [] {
        begin_and_end();
        return 7;
    }();
    return table;
}

void fork_while_a_thread_compiles() {
    std::thread compiles([] {
        const CompilingScope compiling;
        table_that_takes_long();
    });
    while (!has_begun) {
        std::this_thread::yield();
    }
    const pid_t child = fork();
    if (child == 0) {
        alarm(10);
        const CompilingScope compiling;
        _exit(table_that_takes_long());
    }
    int status = 0;
    waitpid(child, &status, 0);
    compiles.join();
    { const CompilingScope compiling; }
    std::_Exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

// Whose function waits for the fork, as for a lock that the forking thread has.
void fork_while_a_function_of_the_user_waits() {
    std::atomic<bool> has_forked{false};
    std::thread compiles([&] {
        const CompilingScope compiling;
        const UsersFunctionScope users;
        has_begun = true;
        while (!has_forked) {
            std::this_thread::yield();
        }
    });
    while (!has_begun) {
        std::this_thread::yield();
    }
    const auto before = std::chrono::steady_clock::now();
    const pid_t child = fork();
    if (child == 0) {
        _exit(0);
    }
    const bool is_soon = std::chrono::steady_clock::now() - before < std::chrono::seconds(5);
    has_forked = true;
    waitpid(child, nullptr, 0);
    compiles.join();
    std::_Exit(is_soon ? 0 : 1);
}

}  // namespace

TEST(CompilingScope, AChildCompilesWhatAThreadOfItsParentDid) {
    EXPECT_EXIT(fork_while_a_thread_compiles(), testing::ExitedWithCode(7), "");
}

TEST(CompilingScope, AForkDoesNotWaitForAFunctionOfTheUser) {
    EXPECT_EXIT(fork_while_a_function_of_the_user_waits(), testing::ExitedWithCode(0), "");
}

TEST(CompilingScope, AThreadThatADestructorWaitsForIsRefused) {
    EXPECT_EXIT(join_a_thread_that_comes_too_late(), testing::ExitedWithCode(0), "");
}

TEST(CompilingScope, TheEndOfTheProcessWaitsForIt) {
    EXPECT_EXIT(compile_while_the_process_ends(), testing::ExitedWithCode(0), "");
}

TEST(CompilingScope, TheEndOfTheProcessWaitsForWhatAFunctionOfTheUserCompiles) {
    EXPECT_EXIT(compile_within_a_function_of_the_user(), testing::ExitedWithCode(0), "");
}

TEST(CompilingScope, TheThreadThatEndsTheProcessCompiles) {
    EXPECT_EXIT(compile_on_the_thread_that_ends_the_process(), testing::ExitedWithCode(0), "");
}

}  // namespace calotype::internal
