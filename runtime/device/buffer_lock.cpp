// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/buffer_lock.h"

#include <pthread.h>
#include <string.h>

#include "runtime/host/data/atomic_flag.h"
#include "runtime/host/data/list.h"
#include "runtime/host/sync.h"

namespace calotype::runtime {

namespace {

/** The locks that are taken. The mutex is held for a few steps at a time. */
struct LockedBuffers {
    Mutex mutex;
    FutexWord unlocked{0};  ///< changes when a lock is given up that others wait for
    uint32_t waiters = 0;
    BufferLock *first = nullptr;
};
constinit LockedBuffers locked;

/** In a child process, which has none of the threads that had locks. */
void forget_locks() {
    memset(static_cast<void *>(&locked), 0, sizeof locked);
}

void install_fork_handler_once() {
    static constinit AtomicFlag is_installed{false};
    if (!is_installed.load(std::memory_order_relaxed) && !is_installed.exchange(true)) {
        pthread_atfork(nullptr, nullptr, forget_locks);
    }
}

}  // namespace

constinit thread_local BufferLock *BufferLock::innermost = nullptr;

BufferLock::BufferLock(const calotype_buffer_t *buf) : buf(buf), outer(innermost) {
    lock();
    innermost = this;
}

BufferLock::~BufferLock() {
    unlock();
    innermost = outer;
}

void BufferLock::relock() {
    if (!is_locked) {
        lock();
        innermost = this;
    }
}

void BufferLock::lock() {
    if (!buf) {
        return;
    }
    install_fork_handler_once();
    LockGuard guard(locked.mutex);
    while (find_in(locked.first, [&](const BufferLock &other) { return other.buf == buf; })) {
        const uint32_t seen = locked.unlocked.load(std::memory_order_relaxed);
        locked.waiters++;
        {
            const Unlocked unlocked(locked.mutex);
            futex_wait(locked.unlocked, seen);
        }
        locked.waiters--;
    }
    push(locked.first, this);
    is_locked = true;
}

void BufferLock::unlock() {
    if (!is_locked) {
        return;
    }
    is_locked = false;
    bool has_waiters = false;
    {
        LockGuard guard(locked.mutex);
        // A child process may have forgotten it.
        take_first(locked.first, [&](const BufferLock &other) { return &other == this; });
        has_waiters = locked.waiters != 0;
        locked.unlocked.fetch_add(has_waiters, std::memory_order_relaxed);
    }
    if (has_waiters) {
        futex_wake(locked.unlocked, everyone);
    }
}

void unlock_thread_buffers() {
    for (BufferLock *lock = BufferLock::innermost; lock; lock = lock->outer) {
        lock->unlock();
    }
    BufferLock::innermost = nullptr;
}

}  // namespace calotype::runtime
