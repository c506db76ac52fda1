// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loading ahead of time, on threads that end with their work. They take the place of callers, not
// of the pool's workers, which must be free to run loops while a compiler is at work.
#include <new>
#include <stdlib.h>

#include "runtime/abi/threads.h"
#include "runtime/device/cache/beside.h"
#include "runtime/device/cache/kernel_cache.h"
#include "runtime/device/cache/timed_wait.h"
#include "runtime/host/weak.h"

using namespace calotype::runtime;

namespace calotype {
namespace runtime {

namespace {

struct Prefetch {
    void *user_context;
    const calotype_module_desc **descs;
    uint32_t n;
    std::atomic<uint32_t> next{0};
    Word unfinished{0};  ///< modules
    calotype_thread **threads;
    uint32_t n_threads;
    // Guarded.
    Waitable loading;    ///< served by the threads
    FlightError *error;  ///< of the first that failed
    calotype_status status;
    bool has_waiter;  ///< somebody has the ticket
    bool is_of_parent;
    Prefetch *older;
    // Of run_beside(), in place of modules.
    void (*task)(void *);
    void *data;
    const char *what;
};

/** All whose threads have not been joined. Guarded. */
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
        wake(prefetch.unfinished, everyone);
    }
}

void load_all(Prefetch &prefetch) {
    for (;;) {
        const uint32_t i = prefetch.next.fetch_add(1, std::memory_order_relaxed);
        if (i >= prefetch.n) {
            return;
        }
        load_one(prefetch, *prefetch.descs[i]);
        finish(prefetch, 1);
    }
}

/** Others that wait for it wait for this thread. */
void serve(ThreadBlock *me, const Waitable *what) {
    if (me) {
        LockGuard guard(kernel_cache.lock);
        me->serves = what;
    }
}

void do_task(void *data) {
    Prefetch &prefetch = *static_cast<Prefetch *>(data);
    prefetch.task(prefetch.data);
    finish(prefetch, 1);
}

void work(void *data) {
    Prefetch &prefetch = *static_cast<Prefetch *>(data);
    ThreadBlock *me = this_thread();
    const Waitable *before = me ? me->serves : nullptr;
    serve(me, &prefetch.loading);
    load_all(prefetch);
    serve(me, before);
}

void free_prefetch(Prefetch *prefetch) {
    drop_error(prefetch->error);
    free(prefetch->descs);
    free(prefetch->threads);
    free(prefetch);
}

Prefetch *make_prefetch(void *user_context, const calotype_module_desc *const *descs, uint32_t n,
                        uint32_t n_threads) {
    void *memory = calloc(1, sizeof(Prefetch));
    if (!memory) {
        return nullptr;
    }
    Prefetch *prefetch = new (memory) Prefetch{};
    prefetch->user_context = user_context;
    prefetch->n = n;
    prefetch->unfinished.store(n, std::memory_order_relaxed);
    prefetch->descs =
        static_cast<const calotype_module_desc **>(calloc(size_t(n) + 1, sizeof *descs));
    prefetch->threads =
        static_cast<calotype_thread **>(calloc(size_t(n_threads) + 1, sizeof(calotype_thread *)));
    if (!prefetch->descs || !prefetch->threads) {
        free_prefetch(prefetch);
        return nullptr;
    }
    for (uint32_t i = 0; i < n; i++) {
        prefetch->descs[i] = descs[i];
    }
    return prefetch;
}

void enlist(Prefetch *prefetch, bool has_waiter) {
    LockGuard guard(kernel_cache.lock);
    prefetch->has_waiter = has_waiter;
    prefetch->older = prefetches;
    prefetches = prefetch;
}

/** Join its threads and take it out of the list. */
void end(Prefetch *prefetch) {
    for (uint32_t i = 0; i < prefetch->n_threads; i++) {
        calotype_join_thread(prefetch->threads[i]);
    }
    LockGuard guard(kernel_cache.lock);
    Prefetch **link = &prefetches;
    while (*link && *link != prefetch) {
        link = &(*link)->older;
    }
    if (*link) {
        *link = prefetch->older;
    }
}

/** False: a thread that loads the modules waits for this one. */
bool begin_wait(ThreadBlock *me, const Waitable &loading) {
    if (!me) {
        return true;
    }
    LockGuard guard(kernel_cache.lock);
    if (closes_circle(*me, loading)) {
        return false;
    }
    me->waits_on = &loading;
    return true;
}

void end_wait(ThreadBlock *me) {
    if (me) {
        LockGuard guard(kernel_cache.lock);
        me->waits_on = nullptr;
    }
}

/** False: some were unfinished at the deadline. */
bool await_finish(Prefetch &prefetch, uint64_t deadline) {
    uint32_t left;
    while ((left = prefetch.unfinished.load(std::memory_order_acquire)) && now_ns() < deadline) {
        wait_on_until(prefetch.unfinished, left, deadline);
    }
    return left == 0;
}

calotype_status report_unfinished(const char *what) {
    return fail(CALOTYPE_E_TIMEOUT, CALOTYPE_ST_NONE, nullptr,
                what ? what : "modules are still being loaded");
}

/** Until all modules are loaded or refused. */
calotype_status await(Prefetch &prefetch, uint64_t deadline) {
    ThreadBlock *me = this_thread();
    if (!begin_wait(me, prefetch.loading)) {
        return fail(CALOTYPE_E_DEADLOCK, CALOTYPE_ST_NONE, nullptr,
                    "a thread that loads the modules waits for this one");
    }
    const bool is_finished = await_finish(prefetch, deadline);
    end_wait(me);
    return is_finished ? CALOTYPE_OK : report_unfinished(nullptr);
}

/** One that nobody waits for; with `any_state` also if it is not done, unless its threads wait for
 * this one. Out of the list, and this thread waits for it. */
Prefetch *take_unattended(bool any_state, ThreadBlock *me) {
    LockGuard guard(kernel_cache.lock);
    for (Prefetch **link = &prefetches; *link; link = &(*link)->older) {
        Prefetch *prefetch = *link;
        const bool is_done = prefetch->unfinished.load(std::memory_order_acquire) == 0;
        if (!prefetch->has_waiter &&
            (is_done || (any_state && !(me && closes_circle(*me, prefetch->loading))))) {
            *link = prefetch->older;
            if (me && !is_done) {
                me->waits_on = &prefetch->loading;
            }
            return prefetch;
        }
    }
    return nullptr;
}

/** Not OK: threads of some had not finished at the deadline. */
calotype_status end_unattended(bool any_state, uint64_t deadline = no_deadline) {
    ThreadBlock *me = this_thread();
    while (Prefetch *prefetch = take_unattended(any_state, me)) {
        const bool is_finished = await_finish(*prefetch, deadline);
        if (is_finished) {
            end(prefetch);
        }
        end_wait(me);
        if (!is_finished) {
            const char *what = prefetch->what;
            enlist(prefetch, false);
            return report_unfinished(what);
        }
        free_prefetch(prefetch);
    }
    return CALOTYPE_OK;
}

/** Modules with which no thread has begun are not loaded any more. The lock is held. */
void cancel(Prefetch &prefetch) {
    const uint32_t begun = prefetch.next.exchange(prefetch.n, std::memory_order_relaxed);
    if (begun >= prefetch.n) {
        return;
    }
    const uint32_t left = prefetch.n - begun;
    if (prefetch.status == CALOTYPE_OK) {
        Failure failure;
        failure.status = prefetch.status = CALOTYPE_E_CLOSING;
        ErrorLog log;
        log << left << " of " << prefetch.n << " modules were not loaded: the cache was shut down";
        prefetch.error = make_error(failure, log);
    }
    finish(prefetch, left);
}

uint32_t threads_for(uint32_t n) {
    kernel_cache.lock.lock();
    uint32_t threads = kernel_cache.limits.compile_threads;
    kernel_cache.lock.unlock();
    threads = threads ? threads : uint32_t(calotype_get_num_threads());
    return threads < n ? threads : n;
}

}  // namespace

void cancel_prefetches() {
    LockGuard guard(kernel_cache.lock);
    for (Prefetch *prefetch = prefetches; prefetch; prefetch = prefetch->older) {
        cancel(*prefetch);
    }
}

calotype_status end_prefetches(uint64_t deadline) {
    return end_unattended(true, deadline);
}

void forget_prefetches() {
    for (Prefetch *prefetch = prefetches; prefetch; prefetch = prefetch->older) {
        prefetch->is_of_parent = true;
    }
    prefetches = nullptr;
}

bool run_beside(void (*task)(void *), void *data, const char *what) {
    install_exit_handler();
    install_fork_handler();
    end_unattended(false);
    kernel_cache.lock.lock();
    const bool is_ending = kernel_cache.exiting;
    kernel_cache.lock.unlock();
    Prefetch *beside = is_ending ? nullptr : make_prefetch(nullptr, nullptr, 0, 1);
    if (!beside) {
        return false;
    }
    beside->task = task;
    beside->data = data;
    beside->what = what;
    beside->unfinished.store(1, std::memory_order_relaxed);
    enlist(beside, true);  // while the thread is started
    beside->threads[0] = calotype_spawn_thread(do_task, beside);
    if (!beside->threads[0]) {
        end(beside);
        free_prefetch(beside);
        return false;
    }
    beside->n_threads = 1;
    LockGuard guard(kernel_cache.lock);
    beside->has_waiter = false;
    return true;
}

}  // namespace runtime
}  // namespace calotype

CALOTYPE_WEAK calotype_status calotype_prefetch(void *user_context,
                                                const calotype_module_desc *const *descs,
                                                uint32_t n, uint32_t flags, void **ticket) {
    if (flags != 0 || (n > 0 && !descs)) {
        return fail(CALOTYPE_E_INVALID, CALOTYPE_ST_NONE, nullptr,
                    "a prefetch takes modules and no flags");
    }
    install_exit_handler();
    install_fork_handler();
    end_unattended(false);
    const uint32_t n_threads = threads_for(n);
    Prefetch *prefetch = make_prefetch(user_context, descs, n, n_threads);
    if (!prefetch) {
        return fail(CALOTYPE_E_OOM, CALOTYPE_ST_NONE, nullptr, "no memory for a prefetch");
    }
    enlist(prefetch, true);  // while threads are started
    for (uint32_t i = 0; i < n_threads; i++) {
        prefetch->threads[i] = calotype_spawn_thread(work, prefetch);
        prefetch->n_threads += prefetch->threads[i] != nullptr;
        if (!prefetch->threads[i]) {
            break;
        }
    }
    if (n > 0 && prefetch->n_threads == 0) {
        work(prefetch);
    }
    LockGuard guard(kernel_cache.lock);
    prefetch->has_waiter = ticket != nullptr;
    if (ticket) {
        *ticket = prefetch;
    }
    return CALOTYPE_OK;
}

CALOTYPE_WEAK calotype_status calotype_prefetch_wait(void *ticket, uint32_t timeout_ms) {
    Prefetch *prefetch = static_cast<Prefetch *>(ticket);
    if (!prefetch) {
        return fail(CALOTYPE_E_INVALID, CALOTYPE_ST_NONE, nullptr, "no ticket of a prefetch");
    }
    if (prefetch->is_of_parent) {
        return fail(CALOTYPE_E_INVALID, CALOTYPE_ST_NONE, nullptr,
                    "the ticket is the parent process's, whose modules are not loaded in this one");
    }
    const calotype_status waited = await(*prefetch, deadline_after_ms(timeout_ms));
    if (waited != CALOTYPE_OK) {
        return waited;
    }
    end(prefetch);
    const calotype_status status = prefetch->status;
    if (status != CALOTYPE_OK) {
        set_last_error(share_error(prefetch->error), status);
    }
    free_prefetch(prefetch);
    return status;
}
