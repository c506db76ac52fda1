// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads outside the pool.
#include <atomic>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "runtime/abi/threads.h"
#include "runtime/host/weak.h"

struct calotype_thread {
    void (*f)(void *);
    void *closure;
    pthread_t handle;
};

static void *thread_main(void *arg) {
    const calotype_thread *thread = static_cast<calotype_thread *>(arg);
    thread->f(thread->closure);
    return nullptr;
}

CALOTYPE_WEAK calotype_thread *calotype_spawn_thread(void (*f)(void *), void *closure) {
    calotype_thread *thread = static_cast<calotype_thread *>(malloc(sizeof(calotype_thread)));
    if (!thread) {
        return nullptr;
    }
    thread->f = f;
    thread->closure = closure;
    if (pthread_create(&thread->handle, nullptr, thread_main, thread) != 0) {
        free(thread);
        return nullptr;
    }
    return thread;
}

CALOTYPE_WEAK void calotype_join_thread(calotype_thread *thread) {
    if (thread) {
        pthread_join(thread->handle, nullptr);
        free(thread);
    }
}

CALOTYPE_WEAK uint64_t calotype_current_thread_id(void) {
    static std::atomic<uint64_t> threads{0};
    static thread_local uint64_t id = 0;
    if (id == 0) {
        id = threads.fetch_add(1, std::memory_order_relaxed) + 1;
    }
    return id;
}
