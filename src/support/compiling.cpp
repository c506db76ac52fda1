// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/compiling.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

#include "support/error.h"

namespace calotype::internal {

namespace {

constexpr auto longest_wait = std::chrono::seconds(10);
/// Of a thread that comes when the process is ending: it ends with the process, but for one that a destructor waits for.
constexpr auto wait_for_the_end = std::chrono::seconds(2);

// Threads that compile, but for those that are in functions of the user's.
std::atomic<int> compiling{0};
std::atomic<bool> is_ending{false};
// Threads that are about to fork: nobody begins to compile meanwhile.
std::atomic<int> forking{0};

thread_local int depth = 0;
thread_local bool ends_process = false;

void count_when_nobody_forks() {
    compiling++;
    while (forking > 0) {
        compiling--;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        compiling++;
    }
}

// Whether the thread may: not once the process is ending.
bool begin() {
    count_when_nobody_forks();
    if (!is_ending || ends_process) {
        return true;
    }
    compiling--;
    std::this_thread::sleep_for(wait_for_the_end);
    compiling++;
    return false;
}

void end() {
    compiling--;
}

void wait_for_the_others() {
    const auto begun = std::chrono::steady_clock::now();
    const int own = depth > 0 ? 1 : 0;
    while (compiling > own && std::chrono::steady_clock::now() - begun < longest_wait) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

// On the thread that ends the process, which may compile itself.
void wait_for_compiling() {
    ends_process = true;
    if (!is_ending.exchange(true)) {
        wait_for_the_others();
    }
}

// What another thread has locked or is making for the first time would stay so in the child.
void before_fork() {
    forking++;
    wait_for_the_others();
}

void after_fork_in_parent() {
    forking--;
}

// A child process has none of the other threads.
void after_fork_in_child() {
    forking = 0;
    compiling = depth > 0 ? 1 : 0;
}

// What is registered last is called first. LLVM makes tables when they are first needed, each with a
// destructor that is registered then: after the first compilations there are most of
// them.
void wait_at_exit() {
    static std::atomic<int> registered{0};
    constexpr int most = 16;
    if (registered < most && registered++ < most) {
        std::atexit(wait_for_compiling);
    }
}

}  // namespace

CompilingScope::CompilingScope(bool for_ending) {
    [[maybe_unused]] static const int installed =
        std::atexit(wait_for_compiling) +
        pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    ends_process |= for_ending;
    if (depth == 0 && !begin()) {
        end();
        user_error << "the process is ending: nothing can be compiled any more";
    }
    depth++;
}

CompilingScope::~CompilingScope() {
    if (--depth == 0) {
        wait_at_exit();
        end();
    }
}

bool CompilingScope::is_ending_process() {
    return ends_process;
}

UsersFunctionScope::UsersFunctionScope() : depth_(std::exchange(depth, 0)) {
    if (depth_ > 0) {
        end();
    }
}

UsersFunctionScope::~UsersFunctionScope() {
    if (depth_ > 0) {
        begin();
    }
    depth = depth_;
}

}  // namespace calotype::internal
