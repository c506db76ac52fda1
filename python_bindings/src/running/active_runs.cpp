// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "active_runs.h"

#include <atomic>
#include <chrono>
#include <thread>

#include "at_exit.h"
#include "gil.h"

namespace calotype::python {

namespace {

constexpr std::chrono::seconds patience{2};

std::atomic<int> running{0};
std::atomic<bool> is_ending{false};
std::thread::id ended_by;  ///< written before is_ending

void wait_for_all() {
    ended_by = std::this_thread::get_id();
    is_ending = true;
    const auto last = std::chrono::steady_clock::now() + patience;
    while (running > 0 && std::chrono::steady_clock::now() < last) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

}  // namespace

// Counted before the question, so that who ends sees it, or is seen.
ActiveRun::ActiveRun() {
    running++;
    if (is_ending && std::this_thread::get_id() != ended_by) {
        running--;
        sleep_to_the_end();
    }
}

ActiveRun::~ActiveRun() {
    running--;
}

void wait_for_runs_at_exit() {
    call_at_exit([] { wait_for_all(); });
}

}  // namespace calotype::python
