// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads outside the pool.
#include "runtime/host/start_thread.h"

#include <atomic>
#include <initializer_list>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include "runtime/abi/threads.h"
#include "runtime/host/weak.h"

using namespace calotype::runtime;

namespace calotype::runtime {

int start_thread(pthread_t *thread, void *(*entry)(void *), void *data) {
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (int signal :
         {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF, SIGVTALRM}) {
        sigdelset(&blocked, signal);
    }
    // A thread begins with the mask of the one that starts it.
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    const int error = pthread_create(thread, nullptr, entry, data);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return error;
}

void name_this_thread(const char *name) {
#if defined(__linux__)
    pthread_setname_np(pthread_self(), name);
#elif defined(__APPLE__)
    pthread_setname_np(name);
#endif
}

}  // namespace calotype::runtime

struct calotype_thread {
    void (*f)(void *);
    void *closure;
    pthread_t handle;
};

static void *thread_main(void *arg) {
    const calotype_thread *thread = static_cast<calotype_thread *>(arg);
    name_this_thread("calotype");
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
    if (start_thread(&thread->handle, thread_main, thread) != 0) {
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
