// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mutexes and condition variables on futexes.
//
// A condition variable is a counter: a waiter notes its value, unlocks, and sleeps until it is
// another; signals count. A mutex array is a power of two of mutexes, entries folded onto them.
#include "runtime/host/sync.h"

#include <new>
#include <stdlib.h>
#include <unistd.h>

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#else
#include <sched.h>
#endif

#include "runtime/abi/errors.h"
#include "runtime/abi/threads.h"
#include "runtime/host/weak.h"

namespace calotype::runtime {

#if defined(__linux__)
void futex_wait(const FutexWord &word, uint32_t expected) {
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

void futex_wake(const FutexWord &word, int count) {
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}
#else
void futex_wait(const FutexWord &, uint32_t) {
    sched_yield();
}

void futex_wake(const FutexWord &, int) {
}
#endif

void Mutex::lock_contended() {
    for (int spin = 0; spin < 40; spin++) {
        uint32_t seen = state.load(std::memory_order_relaxed);
        if (seen == 0 && state.compare_exchange_weak(seen, 1, std::memory_order_acquire,
                                                     std::memory_order_relaxed)) {
            return;
        }
        relax();
    }
    while (state.exchange(2, std::memory_order_acquire) != 0) {
        futex_wait(state, 2);
    }
}

}  // namespace calotype::runtime

using namespace calotype::runtime;

static_assert(sizeof(Mutex) <= sizeof(calotype_mutex) && sizeof(FutexWord) <= sizeof(calotype_cond),
              "the public structures must hold ours");

static Mutex &as_mutex(calotype_mutex *mutex) {
    return *reinterpret_cast<Mutex *>(mutex);
}

static FutexWord &as_word(calotype_cond *cond) {
    return *reinterpret_cast<FutexWord *>(cond);
}

CALOTYPE_WEAK void calotype_mutex_lock(calotype_mutex *mutex) {
    as_mutex(mutex).lock();
}

CALOTYPE_WEAK void calotype_mutex_unlock(calotype_mutex *mutex) {
    as_mutex(mutex).unlock();
}

CALOTYPE_WEAK void calotype_cond_signal(calotype_cond *cond) {
    as_word(cond).fetch_add(1, std::memory_order_release);
    futex_wake(as_word(cond), 1);
}

CALOTYPE_WEAK void calotype_cond_broadcast(calotype_cond *cond) {
    as_word(cond).fetch_add(1, std::memory_order_release);
    futex_wake(as_word(cond), everyone);
}

CALOTYPE_WEAK void calotype_cond_wait(calotype_cond *cond, calotype_mutex *mutex) {
    const uint32_t seen = as_word(cond).load(std::memory_order_acquire);
    calotype_mutex_unlock(mutex);
    futex_wait(as_word(cond), seen);
    calotype_mutex_lock(mutex);
}

struct calotype_mutex_array {
    uint32_t mask;
    Mutex *mutexes;
};

CALOTYPE_WEAK calotype_mutex_array *calotype_mutex_array_create(uint64_t size) {
    uint32_t count = 1;
    while (count < size && count < 4096) {
        count *= 2;
    }
    const size_t bytes = sizeof(calotype_mutex_array) + count * sizeof(Mutex);
    void *memory = malloc(bytes);
    if (!memory) {
        calotype_error_out_of_memory(nullptr);
        return nullptr;
    }
    calotype_mutex_array *array = new (memory) calotype_mutex_array{count - 1, nullptr};
    array->mutexes = reinterpret_cast<Mutex *>(array + 1);
    for (uint32_t i = 0; i < count; i++) {
        new (&array->mutexes[i]) Mutex;
    }
    return array;
}

CALOTYPE_WEAK void calotype_mutex_array_destroy(void *user_context, void *array) {
    (void)user_context;
    free(array);
}

CALOTYPE_WEAK int calotype_mutex_array_lock(calotype_mutex_array *array, int entry) {
    array->mutexes[uint32_t(entry) & array->mask].lock();
    return 0;
}

CALOTYPE_WEAK int calotype_mutex_array_unlock(calotype_mutex_array *array, int entry) {
    array->mutexes[uint32_t(entry) & array->mask].unlock();
    return 0;
}
