// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A mutex that a child process finds free, and what it guards whole, whoever had it when the
// process forked: fork() waits for it. All zero at first, as Mutex, and given to LockGuard as one.
//
// While it is held no other of these is locked, nor waited for anything that a thread which forks
// may keep.
#pragma once

#include "runtime/host/sync.h"

namespace calotype::runtime {

class ForkMutex {
    Mutex mutex;
    std::atomic<bool> is_known{false};  ///< to fork()
    ForkMutex *next = nullptr;

    void make_known();
    static void before_fork();
    static void after_fork();

public:
    /** Whoever waits for one of these with a lock held that a fork takes too
   * calls this before it installs its own handlers: those run first then. */
    static void install_handlers();
    operator Mutex &() {
        if (!is_known.load(std::memory_order_acquire)) {
            make_known();
        }
        return mutex;
    }
};

}  // namespace calotype::runtime
