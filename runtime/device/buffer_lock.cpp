// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/buffer_lock.h"

#include <pthread.h>
#include <string.h>

#include "runtime/device/list.h"
#include "runtime/host/sync.h"

namespace calotype::runtime {

/** The locks that are taken, of some of all buffers. The mutex is held for a few steps at a time. */
struct alignas(64) LockedBuffers {
    Mutex mutex;
    FutexWord unlocked{0};  ///< changes when a lock is given up that others wait for
    uint32_t waiters = 0;
    BufferLock *first = nullptr;

    bool has(const calotype_buffer_t *buf) const {
        return find_in(first, [=](const BufferLock &lock) { return lock.buf == buf; });
    }
    /** A child process may have forgotten it. */
    void remove(const BufferLock &lock) {
        take_first(first, [&](const BufferLock &other) { return &other == &lock; });
    }
};

namespace {

constinit LockedBuffers table[64];

LockedBuffers &locked_with(const calotype_buffer_t *buf) {
    return table[reinterpret_cast<uintptr_t>(buf) * uint64_t(0x9e3779b97f4a7c15) >> 58];
}

/** In a child process, which has none of the threads that had locks. */
void forget_locks() {
    memset(static_cast<void *>(table), 0, sizeof table);
}

void install_fork_handler_once() {
    static constinit std::atomic<bool> is_installed{false};
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
    LockedBuffers &with = locked_with(buf);
    LockGuard guard(with.mutex);
    while (with.has(buf)) {
        const uint32_t seen = with.unlocked.load(std::memory_order_relaxed);
        with.waiters++;
        {
            const Unlocked unlocked(with.mutex);
            futex_wait(with.unlocked, seen);
        }
        with.waiters--;
    }
    push(with.first, this);
    is_locked = true;
}

void BufferLock::unlock() {
    if (!is_locked) {
        return;
    }
    is_locked = false;
    LockedBuffers &with = locked_with(buf);
    bool has_waiters = false;
    {
        LockGuard guard(with.mutex);
        with.remove(*this);
        has_waiters = with.waiters != 0;
        with.unlocked.fetch_add(has_waiters, std::memory_order_relaxed);
    }
    if (has_waiters) {
        futex_wake(with.unlocked, everyone);
    }
}

void unlock_thread_buffers() {
    for (BufferLock *lock = BufferLock::innermost; lock; lock = lock->outer) {
        lock->unlock();
    }
    BufferLock::innermost = nullptr;
}

}  // namespace calotype::runtime
