// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loading ahead of time, on threads that end with their work. They take the place of callers, not
// of the pool's workers, which must be free to run loops while a compiler is at work.
//
// Nobody joins these threads: one that has called a driver may wait for others in the driver's own
// handler of its end. What is waited for is their work. So their code stays in memory for good, and
// a prefetch is freed by its last owner: one of its threads, or a thread that waits for it.
#include <new>
#include <stdlib.h>

#include "runtime/abi/threads.h"
#include "runtime/device/cache/callbacks.h"
#include "runtime/device/cache/kernel_cache.h"
#include "runtime/host/data/list.h"
#include "runtime/host/start_thread.h"
#include "runtime/host/timed_wait.h"
#include "runtime/host/weak.h"

using namespace calotype::runtime;

namespace calotype::runtime {

namespace {

struct Prefetch {
    void *user_context;
    const calotype_module_desc **descs;
    uint32_t n;
    std::atomic<uint32_t> begun{0};
    FutexWord unfinished{0};  ///< modules
    // Guarded.
    uint32_t owners;     ///< threads, and the ticket
    WaitNode loading;    ///< served by the threads
    FlightError *error;  ///< of the first that failed
    calotype_status status;
    bool has_ticket;
    bool is_of_parent;
    Prefetch *next;  ///< an older one
};

/** All that are not freed. Guarded. */
Prefetch *prefetches = nullptr;

void load_one(Prefetch &prefetch, const calotype_module_desc &desc) {
    calotype_hold hold;
    calotype_status status =
        calotype_initialize_kernels(prefetch.user_context, &desc, nullptr, &hold);
    if (status == CALOTYPE_OK) {
        calotype_finalize_kernels(prefetch.user_context, &hold);
    } else {
        const ThreadBlock *me = known_thread;
        LockGuard guard(kernel_cache.lock);
        if (prefetch.status == CALOTYPE_OK) {
            prefetch.status = status;
            prefetch.error = me ? share_error(me->error) : nullptr;
        }
    }
}

/** So many are done with. */
void finish(Prefetch &prefetch, uint32_t n) {
    if (prefetch.unfinished.fetch_sub(n, std::memory_order_acq_rel) == n) {
        futex_wake(prefetch.unfinished, everyone);
    }
}

void load_all(Prefetch &prefetch) {
    for (;;) {
        const uint32_t i = prefetch.begun.fetch_add(1, std::memory_order_relaxed);
        if (i >= prefetch.n) {
            return;
        }
        load_one(prefetch, *prefetch.descs[i]);
        finish(prefetch, 1);
    }
}

void free_prefetch(Prefetch *prefetch) {
    if (prefetch) {
        drop_error(prefetch->error);
        free(prefetch->descs);
        free(prefetch);
    }
}

/** One owner less. The lock is held; what is answered is to be freed without it. */
Prefetch *disown(Prefetch *prefetch, uint32_t owners) {
    prefetch->owners -= owners;
    if (prefetch->owners != 0) {
        return nullptr;
    }
    take_first(prefetches, [=](const Prefetch &p) { return &p == prefetch; });  // or the parent's
    return prefetch;
}

/** Others that wait for it wait for this thread. */
void serve(ThreadBlock *me, const WaitNode *what) {
    if (me) {
        LockGuard guard(kernel_cache.lock);
        me->serves = what;
    }
}

void work(Prefetch &prefetch) {
    ThreadBlock *me = this_thread();
    const WaitNode *before = me ? me->serves : nullptr;
    serve(me, &prefetch.loading);
    load_all(prefetch);
    serve(me, before);
}

/** Give up the ownership of one of its threads, or of a thread that waits. */
void give_up_share(Prefetch *prefetch) {
    {
        LockGuard guard(kernel_cache.lock);
        prefetch = disown(prefetch, 1);
    }
    free_prefetch(prefetch);
}

void *thread_main(void *data) {
    Prefetch *prefetch = static_cast<Prefetch *>(data);
    name_this_thread("calotype load");
    work(*prefetch);
    give_up_share(prefetch);
    return nullptr;
}

bool start_detached(Prefetch *prefetch) {
    pthread_t thread;
    return start_thread(&thread, thread_main, prefetch) == 0 && pthread_detach(thread) == 0;
}

/** Owned by so many threads and by the caller. */
Prefetch *make_prefetch(void *user_context, const calotype_module_desc *const *descs, uint32_t n,
                        uint32_t n_threads) {
    void *memory = calloc(1, sizeof(Prefetch));
    if (!memory) {
        return nullptr;
    }
    Prefetch *prefetch = new (memory) Prefetch{};
    prefetch->user_context = user_context;
    prefetch->n = n;
    prefetch->owners = n_threads + 1;
    prefetch->has_ticket = true;  // until all its threads have been started
    prefetch->unfinished.store(n, std::memory_order_relaxed);
    prefetch->descs =
        static_cast<const calotype_module_desc **>(calloc(size_t(n) + 1, sizeof *descs));
    if (!prefetch->descs) {
        free_prefetch(prefetch);
        return nullptr;
    }
    for (uint32_t i = 0; i < n; i++) {
        prefetch->descs[i] = descs[i];
    }
    LockGuard guard(kernel_cache.lock);
    push(prefetches, prefetch);
    return prefetch;
}

/** False: a thread that loads the modules waits for this one. The lock is held. */
bool begin_wait(ThreadBlock *me, const WaitNode &loading) {
    const bool may_wait = !me || check_wait(*me, loading) == CALOTYPE_OK;
    if (me && may_wait) {
        me->waits_on = &loading;
    }
    return may_wait;
}

/** Until all modules are loaded or refused. False: some were not at the deadline. */
bool await_finish(Prefetch &prefetch, ThreadBlock *me, uint64_t deadline) {
    uint32_t left;
    while ((left = prefetch.unfinished.load(std::memory_order_acquire)) && now_ns() < deadline) {
        futex_wait_until(prefetch.unfinished, left, deadline);
    }
    if (me) {
        LockGuard guard(kernel_cache.lock);
        me->waits_on = nullptr;
    }
    return left == 0;
}

calotype_status report_unfinished() {
    return fail(CALOTYPE_E_TIMEOUT, "modules are still being loaded");
}

/** One without a ticket that is not finished and whose threads do not wait for this one; it gets
 * one more owner, and this thread waits for it. */
Prefetch *take_unattended(ThreadBlock *me) {
    LockGuard guard(kernel_cache.lock);
    Prefetch *found = find_in(prefetches, [=](const Prefetch &prefetch) {
        return !prefetch.has_ticket && prefetch.unfinished.load(std::memory_order_acquire) != 0 &&
               begin_wait(me, prefetch.loading);
    });
    if (found) {
        found->owners++;
    }
    return found;
}

/** Modules with which no thread has begun are not loaded any more. The lock is held. */
void cancel(Prefetch &prefetch) {
    const uint32_t begun = prefetch.begun.exchange(prefetch.n, std::memory_order_relaxed);
    if (begun >= prefetch.n) {
        return;
    }
    const uint32_t left = prefetch.n - begun;
    if (prefetch.status == CALOTYPE_OK) {
        prefetch.status = CALOTYPE_E_CLOSING;
        const FailureScope failures;
        set_failure(Text() << left << " of " << prefetch.n
                           << " modules were not loaded: the cache was shut down");
        prefetch.error = make_error(Failure{.status = CALOTYPE_E_CLOSING});
    }
    finish(prefetch, left);
}

uint32_t threads_for(uint32_t n) {
    uint32_t threads = 0;
    {
        LockGuard guard(kernel_cache.lock);
        threads = kernel_cache.limits.compile_threads;
    }
    threads = threads ? threads : uint32_t(calotype_get_num_threads());
    return threads < n ? threads : n;
}

}  // namespace

void cancel_prefetches() {
    LockGuard guard(kernel_cache.lock);
    for (Prefetch *prefetch = prefetches; prefetch; prefetch = prefetch->next) {
        cancel(*prefetch);
    }
}

calotype_status await_prefetches(uint64_t deadline) {
    ThreadBlock *me = this_thread();
    while (Prefetch *prefetch = take_unattended(me)) {
        const bool is_finished = await_finish(*prefetch, me, deadline);
        give_up_share(prefetch);
        if (!is_finished) {
            return report_unfinished();
        }
    }
    return CALOTYPE_OK;
}

void forget_prefetches() {
    for (Prefetch *prefetch = prefetches; prefetch; prefetch = prefetch->next) {
        prefetch->is_of_parent = true;
    }
    prefetches = nullptr;
}

}  // namespace calotype::runtime

CALOTYPE_WEAK calotype_status calotype_prefetch(const calotype_device_context *on,
                                                const calotype_module_desc *const *descs,
                                                uint32_t n, uint32_t flags, void **ticket) {
    if (flags != 0 || (n > 0 && !descs)) {
        return fail(CALOTYPE_E_INVALID, "a prefetch takes modules and no flags");
    }
    install_exit_handler();
    install_fork_handler();
    stay_in_memory();
    const uint32_t n_threads = threads_for(n);
    Prefetch *prefetch = make_prefetch(user_context_of(on), descs, n, n_threads);
    if (!prefetch) {
        return fail(CALOTYPE_E_OOM, "no memory for a prefetch");
    }
    uint32_t started = 0;
    while (started < n_threads && start_detached(prefetch)) {
        started++;
    }
    if (n > 0 && started == 0) {
        work(*prefetch);
    }
    {
        LockGuard guard(kernel_cache.lock);
        prefetch->has_ticket = ticket != nullptr;
        if (ticket) {
            *ticket = prefetch;
        }
        prefetch = disown(prefetch, n_threads - started + (ticket ? 0 : 1));
    }
    free_prefetch(prefetch);
    return CALOTYPE_OK;
}

CALOTYPE_WEAK calotype_status calotype_prefetch_wait(void *ticket, uint32_t timeout_ms) {
    Prefetch *prefetch = static_cast<Prefetch *>(ticket);
    if (!prefetch) {
        return fail(CALOTYPE_E_INVALID, "no ticket of a prefetch");
    }
    if (prefetch->is_of_parent) {
        return fail(CALOTYPE_E_INVALID,
                    "the ticket is the parent process's, whose modules are not loaded in this one");
    }
    ThreadBlock *me = this_thread();
    bool may_wait = false;
    {
        LockGuard guard(kernel_cache.lock);
        may_wait = begin_wait(me, prefetch->loading);
    }
    if (!may_wait) {
        return fail(CALOTYPE_E_DEADLOCK, "a thread that loads the modules waits for this one");
    }
    if (!await_finish(*prefetch, me, deadline_after_ms(timeout_ms))) {
        return report_unfinished();
    }
    calotype_status status = CALOTYPE_OK;
    FlightError *error = nullptr;
    {
        LockGuard guard(kernel_cache.lock);
        status = prefetch->status;
        error = share_error(prefetch->error);
        prefetch = disown(prefetch, 1);
    }
    free_prefetch(prefetch);
    if (status != CALOTYPE_OK) {
        set_last_error(error, status);
    }
    return status;
}
