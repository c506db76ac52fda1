// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The end of the process, and the beginning of a child process.
//
// On the way out nothing waits for long: threads that still load or hold modules, and work on
// devices, have 200 ms in all, but work that is done by threads of this process (opencl/queues.cpp).
// What is not idle by then is the driver's to end. Modules are unloaded in contexts that are the
// runtime's alone: an application may have destroyed its own without a word. Teardowns of those run
// without a module.
#include <pthread.h>
#include <stdlib.h>

#include "runtime/device/cache/callbacks.h"
#include "runtime/device/cache/images.h"
#include "runtime/device/cache/release.h"
#include "runtime/device/failure.h"
#include "runtime/host/data/atomic_flag.h"
#include "runtime/host/fork_mutex.h"
#include "runtime/host/timed_wait.h"

namespace calotype::runtime {

namespace {

constexpr uint32_t exit_wait_ms = 200;

/** Whether there is anything that a release would end. */
bool is_in_use(const ContextState &context) {
    return context.newest || context.n_stream_holds || context.nrt.memsys;
}

/** Close the context as soon as nothing moves in it and nothing is held, or at the deadline, and
 * take its modules. The lock is held. */
void close_at_exit(ContextState &context, ThreadBlock &me, uint64_t deadline,
                   TeardownList &victims) {
    context.is_release_waiting = true;
    watch_for_release(context, true);
    while (!context.closing && (moving_entry(context) || is_any_held(context)) &&
           now_ns() < deadline) {
        wait_for_change(deadline);
        watch_for_release(context, true);
    }
    context.closing = true;
    take_ready(context, me, victims);
}

/** Whether the driver may be called for the context, which is idle then. */
bool is_idle(const ContextState &context, uint64_t uid, uint64_t deadline) {
    const KernelBackend &backend = *context.backend;
    return backend.is_own(uid) &&
           (!backend.await_idle || backend.await_idle(context.scope, deadline));
}

void end_at_exit(uint64_t uid, ThreadBlock &me, uint64_t deadline) {
    TeardownList victims;
    ContextState *context = nullptr;
    {
        LockGuard guard(kernel_cache.lock);
        context = find_context(uid);
        if (!context || context->lost || context->closing || !is_in_use(*context)) {
            return;
        }
        close_at_exit(*context, me, deadline, victims);
    }
    const bool has_driver = is_idle(*context, uid, deadline);
    if (!has_driver) {
        LockGuard guard(kernel_cache.lock);
        context->lost = true;
    }
    tear_down(*context, victims, CALOTYPE_R_EXIT, nullptr, me);
    drop_holds(*context, has_driver);
    end_nrt(*context, nullptr, has_driver);
}

void release_at_exit() {
    ThreadBlock *me = this_thread();
    {
        LockGuard guard(kernel_cache.lock);
        kernel_cache.exiting.store(true);  // no thread is started from now on
    }
    end_reports();
    const uint64_t deadline = deadline_after_ms(exit_wait_ms);
    cancel_prefetches();
    await_prefetches(deadline);
    for (uint64_t uid = next_older_context(UINT64_MAX); me && uid; uid = next_older_context(uid)) {
        end_at_exit(uid, *me, deadline);
    }
    end_thread_tracking();
}

// ---- fork ------------------------------------------------------------------------------------

/** Modules, contexts and flights are the parent's: forgotten without a word to driver or callbacks.
 * Their memory stays, since holds of the parent may yet be given back here. */
void forget_all_in_child() {
    KernelCache &cache = kernel_cache;
    for (uint32_t i = 0; i < cache.n_entries; i++) {
        calotype_entry &entry = cache.entry(i);
        if (entry.phase() != Phase::free) {
            set_phase(entry, Phase::orphaned);
            entry.first_waiter = nullptr;
            entry.flight.owner = nullptr;
            entry.module = nullptr;
        }
    }
    if (Table *table = cache.table.load(std::memory_order_relaxed)) {
        for (uint64_t i = 0; i <= table->mask; i++) {
            table->chains[i].store(nullptr, std::memory_order_relaxed);
        }
    }
    cache.n_in_table = 0;
    for (const KernelBackend *&backend : cache.backends) {
        backend = nullptr;
    }
    cache.contexts = nullptr;
    cache.n_contexts = 0;
    forget_image_flights();
    forget_callbacks_of_others();
    forget_other_threads();
    forget_prefetches();
    forget_live_modules();
}

void before_fork() {
    kernel_cache.lock.lock();
}
void after_fork_in_parent() {
    kernel_cache.lock.unlock();
}
void after_fork_in_child() {
    forget_all_in_child();
    kernel_cache.lock.unlock();
}

constinit AtomicFlag has_exit_handler{false}, has_fork_handler{false};

}  // namespace

void install_exit_handler() {
    if (!has_exit_handler.load(std::memory_order_relaxed) && !has_exit_handler.exchange(true)) {
        atexit(release_at_exit);
    }
}

void install_fork_handler() {
    if (!has_fork_handler.load(std::memory_order_relaxed) && !has_fork_handler.exchange(true)) {
        ForkMutex::install_handlers();  // back ends lock such with the cache's lock held
        pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    }
}

}  // namespace calotype::runtime
