// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/host/fork_mutex.h"

#include <pthread.h>

namespace calotype::runtime {

namespace {

constinit Mutex list_lock;
constinit ForkMutex *known = nullptr;  ///< all that have been used; with the lock held
bool has_handlers = false;

}  // namespace

void ForkMutex::install_handlers() {
    LockGuard guard(list_lock);
    if (!has_handlers) {
        has_handlers = true;
        pthread_atfork(before_fork, after_fork, after_fork);
    }
}

void ForkMutex::make_known() {
    install_handlers();
    LockGuard guard(list_lock);
    if (is_known.load(std::memory_order_relaxed)) {
        return;
    }
    next = known;
    known = this;
    is_known.store(true, std::memory_order_release);
}

void ForkMutex::before_fork() {
    list_lock.lock();
    for (ForkMutex *m = known; m; m = m->next) {
        m->mutex.lock();
    }
}

void ForkMutex::after_fork() {
    for (ForkMutex *m = known; m; m = m->next) {
        m->mutex.unlock();
    }
    list_lock.unlock();
}

}  // namespace calotype::runtime
