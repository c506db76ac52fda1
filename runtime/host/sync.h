// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Waiting for a word in memory to change, and a mutex made of that. Both are all zero at first and
// need no destruction.
#pragma once

#include <atomic>
#include <stdint.h>

namespace calotype::runtime {

using FutexWord = std::atomic<uint32_t>;

/** Sleep while `word` holds `expected`, until woken. May return early. */
void futex_wait(const FutexWord &word, uint32_t expected);
/** Wake up to `count` threads that sleep on `word`. */
void futex_wake(const FutexWord &word, int count);
constexpr int everyone = INT32_MAX;

/** One step of a short busy wait. */
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

class Mutex {
    /** 0: free, 1: held, 2: held and perhaps waited for. */
    FutexWord state{0};

    void lock_contended();

public:
    void lock() {
        uint32_t free = 0;
        if (!state.compare_exchange_strong(free, 1, std::memory_order_acquire,
                                           std::memory_order_relaxed)) {
            lock_contended();
        }
    }
    void unlock() {
        if (state.exchange(0, std::memory_order_release) == 2) {
            futex_wake(state, 1);
        }
    }
};

class LockGuard {
    Mutex &mutex;

public:
    explicit LockGuard(Mutex &mutex) : mutex(mutex) {
        mutex.lock();
    }
    ~LockGuard() {
        mutex.unlock();
    }
    LockGuard(const LockGuard &) = delete;
    LockGuard &operator=(const LockGuard &) = delete;
};

/** A mutex that the calling thread holds is free while this lives: for a call that may wait, or
 * take other locks. */
class Unlocked {
    Mutex &mutex;

public:
    explicit Unlocked(Mutex &mutex) : mutex(mutex) {
        mutex.unlock();
    }
    ~Unlocked() {
        mutex.lock();
    }
    Unlocked(const Unlocked &) = delete;
    Unlocked &operator=(const Unlocked &) = delete;
};

}  // namespace calotype::runtime
