// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The end of a context's modules: by release, by loss, by shutdown, at exit; and their absence in
// child processes.
#include <pthread.h>
#include <stdlib.h>

#include "runtime/device/cache/barriers.h"
#include "runtime/device/cache/images.h"
#include "runtime/device/cache/kernel_cache.h"
#include "runtime/device/cache/teardown.h"
#include "runtime/device/cache/timed_wait.h"
#include "runtime/host/weak.h"

using namespace calotype::runtime;

namespace calotype {
namespace runtime {

uint64_t next_older_context(uint64_t uid) {
    LockGuard guard(kernel_cache.lock);
    uint64_t found = 0;
    for (const ContextState *c = kernel_cache.contexts; c; c = c->next) {
        if (!c->lost && c->uid < uid && c->uid > found) {
            found = c->uid;
        }
    }
    return found;
}

namespace {

/** Events and graphs have no way to wake us, so those who wait for them look again after this time.
 */
constexpr uint64_t poll_ns = 200000;
/** A graph that was destroyed just now says so up to a tenth of a millisecond later. */
constexpr uint64_t graph_grace_ns = 20000000;

struct Release {
    ContextState &context;
    uint64_t uid;
    ThreadBlock &me;
    calotype_release_policy policy;
    uint64_t deadline;
    calotype_reason reason;
    void *user_context;
    bool has_driver;
    uint64_t graph_deadline = now_ns() + graph_grace_ns;
};

uint64_t next_look(const Release &release) {
    const uint64_t soon = now_ns() + poll_ns;
    const bool is_polled = release.context.n_stream_holds || release.context.graph_pins;
    return is_polled && soon < release.deadline ? soon : release.deadline;
}

/** One that is on its way in or out; null if there is none. */
calotype_entry *moving_entry(const ContextState &context) {
    for (calotype_entry *e = context.newest; e; e = e->older) {
        if (e->phase() == Phase::busy || e->phase() == Phase::tearing) {
            return e;
        }
    }
    return nullptr;
}

/** Wait for flights and teardowns of others. The lock is held. */
calotype_status await_others(Release &release) {
    while (calotype_entry *moving = moving_entry(release.context)) {
        if (moving->flight.owner == &release.me) {
            return CALOTYPE_E_REENTRANT;
        }
        if (closes_circle(release.me, moving->flight)) {
            return CALOTYPE_E_DEADLOCK;
        }
        if (release.deadline != no_deadline && now_ns() >= release.deadline) {
            return CALOTYPE_E_TIMEOUT;
        }
        release.me.waits_on = &moving->flight;
        wait_for_change(release.deadline);
        release.me.waits_on = nullptr;
    }
    return CALOTYPE_OK;
}

void watch_for_release(ContextState &context, bool awaited) {
    for (calotype_entry *e = context.newest; e; e = e->older) {
        if (e->phase() == Phase::ready) {
            e->awaited = awaited;
            set_watched(*e, awaited || is_to_be_watched(*e));
        }
    }
    if (awaited) {
        barrier_to_gather();
    }
}

bool is_any_held(const ContextState &context) {
    for (const calotype_entry *e = context.newest; e; e = e->older) {
        if (e->phase() == Phase::ready && count_holds(e->index) != 0) {
            return true;
        }
    }
    return false;
}

/** As the policy says. The lock is held, and let go of between looks. */
calotype_status await_holds(Release &release) {
    while (release.policy != CALOTYPE_REL_FORCE && is_any_held(release.context)) {
        const bool may_end = release.context.graph_pins && now_ns() < release.graph_deadline;
        if (release.policy == CALOTYPE_REL_BUSY && !may_end) {
            return CALOTYPE_E_BUSY;
        }
        if (now_ns() >= release.deadline) {
            return CALOTYPE_E_TIMEOUT;
        }
        wait_for_change(next_look(release));
        kernel_cache.lock.unlock();
        poll_holds(release.uid);
        kernel_cache.lock.lock();
    }
    return CALOTYPE_OK;
}

void take_all(Release &release, Victims &victims) {
    for (calotype_entry *e = release.context.newest; e; e = e->older) {
        if (e->phase() == Phase::ready) {
            take_out_of_service(*e, release.me, victims);
        }
    }
}

void drop_failed(ContextState &context) {
    calotype_entry *e = context.newest;
    while (e) {
        calotype_entry *older = e->older;
        if (e->phase() == Phase::failed) {
            remove_entry(*e);
        }
        e = older;
    }
}

const char *explain(calotype_status status) {
    switch (status) {
    case CALOTYPE_E_BUSY:
        return "a module of the context is held";
    case CALOTYPE_E_TIMEOUT:
        return "modules of the context were still in use at the deadline";
    case CALOTYPE_E_CLOSING:
        return "another thread is releasing the context";
    case CALOTYPE_E_REENTRANT:
        return "a callback releases the context of its own module";
    case CALOTYPE_E_DEADLOCK:
        return "a thread that loads a module waits for this one";
    case CALOTYPE_E_CAPTURE:
        return "a context cannot be released while its stream is captured";
    default:
        return "";
    }
}

void free_kept_memory(const KernelBackend &backend, uint64_t uid, bool has_driver) {
    if (backend.free_kept_memory) {
        backend.free_kept_memory(uid, has_driver);
    }
}

/** Between setting and clearing the closing flag. */
calotype_status release_closed(Release &release) {
    ContextState &context = release.context;
    calotype_status status = await_others(release);
    if (status == CALOTYPE_OK) {
        watch_for_release(context, true);
        status = await_holds(release);
    }
    if (status != CALOTYPE_OK) {
        return status;
    }
    Victims victims;
    take_all(release, victims);
    context.lost |= !release.has_driver;
    kernel_cache.lock.unlock();
    const calotype_status torn =
        tear_down(context, victims, release.reason, release.user_context, release.me);
    kernel_cache.lock.lock();
    const bool has_driver = release.has_driver && context.has_driver();  // as a teardown may say
    kernel_cache.lock.unlock();
    if (torn != CALOTYPE_E_CAPTURE) {
        drop_holds(context, has_driver);
    }
    kernel_cache.lock.lock();
    if (torn == CALOTYPE_E_CAPTURE) {
        return torn;
    }
    status = await_others(release);
    if (status == CALOTYPE_OK) {
        kernel_cache.lock.unlock();
        end_nrt(context, release.user_context, has_driver);
        kernel_cache.lock.lock();
    }
    drop_failed(context);
    return torn != CALOTYPE_OK ? torn : status;
}

calotype_status release_context(Release &release) {
    poll_holds(release.uid);
    ContextState &context = release.context;
    calotype_status status = CALOTYPE_E_CLOSING;
    kernel_cache.lock.lock();
    const KernelBackend &backend = *context.backend;
    if (context.uid != release.uid) {
        status = CALOTYPE_OK;  // lost meanwhile
    } else if (!context.closing) {
        context.closing = true;
        status = release_closed(release);
        context.closing = false;
        watch_for_release(context, false);
        announce_change();
    }
    kernel_cache.lock.unlock();
    if (status != CALOTYPE_OK && status != CALOTYPE_E_TEARDOWN) {
        return fail(status, CALOTYPE_ST_NONE, nullptr, explain(status));
    }
    free_kept_memory(backend, release.uid, release.has_driver);
    return status;
}

calotype_status release_known(ThreadBlock &me, uint64_t uid, calotype_release_policy policy,
                              uint64_t deadline, calotype_reason reason, void *user_context) {
    kernel_cache.lock.lock();
    ContextState *context = find_context(uid);
    const bool is_there = context && !context->lost;
    const KernelBackend *backend = is_there ? context->backend : nullptr;
    void *const address = is_there ? context->scope.context : nullptr;
    kernel_cache.lock.unlock();
    if (!is_there) {
        return CALOTYPE_OK;
    }
    if (!backend->is_alive(address, uid)) {
        return lose_context(uid);
    }
    Release release{*context, uid, me, policy, deadline, reason, user_context, true};
    return release_context(release);
}

// ---- exit ------------------------------------------------------------------------------------

/** For how long threads that still load or unload are waited for. */
constexpr uint32_t exit_wait_ms = 2000;

/** Whether there is anything that a release would end. */
bool is_in_use(const ContextState &context) {
    return context.newest || context.n_stream_holds || context.nrt.memsys;
}

/** The driver is not asked about contexts in which nothing is left: the application may have
 * destroyed them, as it may after a release. */
void release_at_exit() {
    ThreadBlock *me = this_thread();
    kernel_cache.lock.lock();
    kernel_cache.exiting = true;  // no thread is started from now on
    kernel_cache.lock.unlock();
    cancel_prefetches();
    end_prefetches();  // this code may be gone afterwards
    const uint64_t deadline = deadline_after_ms(exit_wait_ms);
    for (uint64_t uid = next_older_context(UINT64_MAX); me && uid; uid = next_older_context(uid)) {
        kernel_cache.lock.lock();
        ContextState *context = find_context(uid);
        const bool is_over = !context || !is_in_use(*context);
        const KernelBackend *backend = is_over ? nullptr : context->backend;
        void *const address = is_over ? nullptr : context->scope.context;
        kernel_cache.lock.unlock();
        if (is_over) {
            continue;  // or lost meanwhile, and its record serves another
        }
        Release release{*context, uid,
                        *me,      CALOTYPE_REL_FORCE,
                        deadline, CALOTYPE_R_EXIT,
                        nullptr,  backend->is_alive(address, uid)};
        release_context(release);
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

constinit std::atomic<bool> has_exit_handler{false}, has_fork_handler{false};

}  // namespace

void install_exit_handler() {
    if (!has_exit_handler.load(std::memory_order_relaxed) && !has_exit_handler.exchange(true)) {
        atexit(release_at_exit);
    }
}

void install_fork_handler() {
    if (!has_fork_handler.load(std::memory_order_relaxed) && !has_fork_handler.exchange(true)) {
        pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    }
}

// ---- loss ------------------------------------------------------------------------------------

calotype_status lose_context(uint64_t uid) {
    ThreadBlock *me = this_thread();
    if (!me) {
        return fail_without_block();
    }
    Victims victims;
    kernel_cache.lock.lock();
    ContextState *context = find_context(uid);
    if (context && !context->lost) {
        context->lost = true;
        Release release{
            *context, uid,  *me, CALOTYPE_REL_FORCE, no_deadline, CALOTYPE_R_CONTEXT_LOST,
            nullptr,  false};
        take_all(release, victims);
        drop_failed(*context);
    }
    if (context) {
        context->users++;
    }
    kernel_cache.lock.unlock();
    if (!context) {
        return CALOTYPE_OK;
    }
    drop_holds(*context, false);
    if (context->backend->forget_context) {
        context->backend->forget_context(uid);
    }
    const calotype_status torn =
        tear_down(*context, victims, CALOTYPE_R_CONTEXT_LOST, nullptr, *me);
    end_nrt(*context, nullptr, false);
    free_kept_memory(*context->backend, uid, false);
    LockGuard guard(kernel_cache.lock);
    context->users--;
    return torn;
}

void lose_ended_contexts() {
    kernel_cache.lock.lock();
    const bool are_many = kernel_cache.n_contexts >= kernel_cache.sweep_contexts_at;
    kernel_cache.lock.unlock();
    uint64_t uid = are_many ? next_older_context(UINT64_MAX) : 0;
    uint32_t n_alive = 0;
    for (; uid; uid = next_older_context(uid)) {
        kernel_cache.lock.lock();
        const ContextState *context = find_context(uid);
        const KernelBackend *backend = context ? context->backend : nullptr;
        void *const address = context ? context->scope.context : nullptr;
        kernel_cache.lock.unlock();
        if (backend && !backend->is_alive(address, uid)) {
            lose_context(uid);
        } else {
            n_alive++;
        }
    }
    if (are_many) {
        LockGuard guard(kernel_cache.lock);
        kernel_cache.sweep_contexts_at = 2 * n_alive > few_contexts ? 2 * n_alive : few_contexts;
    }
}

namespace {

/** How a context is to be released. */
struct Wish {
    calotype_release_policy policy;
    uint64_t deadline;
};

Wish wish_for(calotype_release_policy policy, uint32_t timeout_ms) {
    return {policy, policy == CALOTYPE_REL_WAIT ? deadline_after_ms(timeout_ms) : no_deadline};
}

calotype_status fulfil(const Call &call, void *data) {
    const Wish &wish = *static_cast<const Wish *>(data);
    if (call.backend->is_capturing && call.backend->is_capturing(call.scope, nullptr)) {
        return fail(CALOTYPE_E_CAPTURE, CALOTYPE_ST_UNLOAD, nullptr,
                    "a context cannot be released while its stream is captured");
    }
    return release_known(*call.me, call.scope.context_uid, wish.policy, wish.deadline,
                         CALOTYPE_R_CONTEXT_RELEASE, call.scope.user_context);
}

}  // namespace

calotype_status release_context_of(const KernelBackend &backend, void *user_context,
                                   uint32_t timeout_ms) {
    Wish wish = wish_for(CALOTYPE_REL_WAIT, timeout_ms);
    Call call;
    const calotype_status status = begin_call(user_context, backend, nullptr, &call);
    return status == CALOTYPE_OK ? fulfil(call, &wish) : status;
}

}  // namespace runtime
}  // namespace calotype

CALOTYPE_WEAK calotype_status calotype_release_context(void *user_context,
                                                       calotype_release_policy policy,
                                                       uint32_t timeout_ms) {
    if (uint32_t(policy) > CALOTYPE_REL_FORCE) {
        return refuse_choice("release policy", uint32_t(policy), CALOTYPE_REL_FORCE);
    }
    Wish wish = wish_for(policy, timeout_ms);
    return for_each_backend(user_context, fulfil, &wish);
}

CALOTYPE_WEAK calotype_status calotype_context_lost(uint64_t ctx_uid) {
    return lose_context(ctx_uid);
}

CALOTYPE_WEAK calotype_status calotype_shutdown(uint32_t timeout_ms) {
    ThreadBlock *me = this_thread();
    if (!me) {
        return fail_without_block();
    }
    const uint64_t deadline = deadline_after_ms(timeout_ms);
    cancel_prefetches();
    calotype_status first = end_prefetches(deadline);
    for (uint64_t uid = next_older_context(UINT64_MAX); uid; uid = next_older_context(uid)) {
        const calotype_status status =
            release_known(*me, uid, CALOTYPE_REL_WAIT, deadline, CALOTYPE_R_SHUTDOWN, nullptr);
        first = first == CALOTYPE_OK ? status : first;
    }
    LockGuard guard(kernel_cache.lock);
    drop_all_images();
    return first;
}

CALOTYPE_WEAK calotype_status calotype_forget(const calotype_module_desc *desc) {
    const calotype_status status = check_descriptor(desc);
    if (status != CALOTYPE_OK) {
        return status;
    }
    LockGuard guard(kernel_cache.lock);
    for (ContextState *c = kernel_cache.contexts; c; c = c->next) {
        calotype_entry *entry = find_entry(KernelKey(c->uid, desc->uid));
        if (entry && entry->phase() == Phase::failed) {
            remove_entry(*entry);
        }
    }
    forget_failed_images(desc->uid);
    return CALOTYPE_OK;
}
