// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The release of a context: all its modules go and its identity ends.
//
// While a release waits for holds, other threads go on as ever; only their finalizes take the lock.
// With the last hold the context is closed, by the thread that gives it back, so that nobody comes
// in between: from then on initialize answers CALOTYPE_E_CLOSING until the modules are gone. So a
// release that is refused has changed nothing for anybody.
#include "runtime/device/cache/release.h"
#include "runtime/device/cache/fences.h"
#include "runtime/device/cache/images.h"
#include "runtime/device/cache/kernel_cache.h"
#include "runtime/device/cache/teardown.h"
#include "runtime/host/data/list.h"
#include "runtime/host/timed_wait.h"
#include "runtime/host/weak.h"

using namespace calotype::runtime;

namespace calotype::runtime {

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

calotype_entry *moving_entry(const ContextState &context) {
    for (calotype_entry *e = context.newest; e; e = e->older) {
        if (e->phase() == Phase::busy || e->phase() == Phase::tearing) {
            return e;
        }
    }
    return nullptr;
}

bool is_any_held(const ContextState &context) {
    for (const calotype_entry *e = context.newest; e; e = e->older) {
        if (e->phase() == Phase::ready && count_holds(e->index) != 0) {
            return true;
        }
    }
    return false;
}

void watch_for_release(ContextState &context, bool awaited) {
    for (calotype_entry *e = context.newest; e; e = e->older) {
        if (e->phase() == Phase::ready) {
            e->awaited = awaited;
            set_watched(*e, awaited || is_to_be_watched(*e));
        }
    }
    if (awaited) {
        heavy_fence();
    }
}

void close_if_awaited(ContextState &context) {
    if (context.is_release_waiting && !context.closing && !moving_entry(context) &&
        !is_any_held(context)) {
        context.closing = true;
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

void take_ready(ContextState &context, ThreadBlock &me, TeardownList &victims) {
    for (calotype_entry *e = context.newest; e; e = e->older) {
        if (e->phase() == Phase::ready) {
            begin_teardown(*e, me, victims);
        }
    }
}

namespace {

/** Events and graphs cannot wake a thread: one that waits for them looks again after this time. */
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
    uint64_t graph_deadline = now_ns() + graph_grace_ns;
};

bool has_pins(const ContextState &context) {
    return find_in(context.lasting_holds, [](const LastingHold &h) { return h.is_of_graph(); });
}

uint64_t next_look(const Release &release) {
    const uint64_t soon = now_ns() + poll_ns;
    const bool is_polled = release.context.n_stream_holds || release.context.lasting_holds;
    return is_polled && soon < release.deadline ? soon : release.deadline;
}

/** Unlock, sleep until something changes, look at events, lock. */
void wait_and_poll(Release &release) {
    wait_for_change(next_look(release));
    const Unlocked unlocked(kernel_cache.lock);
    poll_holds(release.uid);
}

bool has_passed(uint64_t deadline) {
    return deadline != no_deadline && now_ns() >= deadline;
}

/** Until flights and teardowns of others have ended. The lock is held. */
calotype_status await_others(Release &release) {
    while (calotype_entry *moving = moving_entry(release.context)) {
        const bool is_being_loaded = moving->phase() == Phase::busy;
        calotype_status status = check_wait(release.me, moving->flight);
        if (status == CALOTYPE_OK) {
            status = release.policy == CALOTYPE_REL_BUSY && is_being_loaded ? CALOTYPE_E_BUSY
                     : has_passed(release.deadline)
                         ? CALOTYPE_E_TIMEOUT
                         : wait_for_others(release.me, moving->flight, release.deadline);
        }
        if (status != CALOTYPE_OK) {
            return status;
        }
    }
    return CALOTYPE_OK;
}

/** Until the context is closed with nothing moving and, unless it is forced, nothing held. The lock
 * is held. */
calotype_status await_idle(Release &release) {
    ContextState &context = release.context;
    for (;;) {
        if (const calotype_status status = context.closing ? CALOTYPE_OK : await_others(release)) {
            return status;
        }
        watch_for_release(context, true);
        if (context.closing || release.policy == CALOTYPE_REL_FORCE || !is_any_held(context)) {
            context.closing = true;
            return CALOTYPE_OK;
        }
        const bool may_end = has_pins(context) && now_ns() < release.graph_deadline;
        if (release.policy == CALOTYPE_REL_BUSY && !may_end) {
            return CALOTYPE_E_BUSY;
        }
        if (has_passed(release.deadline)) {
            return CALOTYPE_E_TIMEOUT;
        }
        wait_and_poll(release);
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

bool has_driver(const ContextState &context) {
    LockGuard guard(kernel_cache.lock);
    return context.has_driver();  // a teardown may have said that there is none
}

/** All that is in the closed context goes. Without the lock. */
calotype_status end_modules(Release &release, TeardownList &victims) {
    ContextState &context = release.context;
    const calotype_status torn =
        tear_down(context, victims, release.reason, release.user_context, release.me);
    if (torn == CALOTYPE_E_CAPTURE) {
        return torn;
    }
    drop_holds(context, has_driver(context));
    calotype_status status;
    {
        LockGuard guard(kernel_cache.lock);
        status = await_others(release);
    }
    if (status == CALOTYPE_OK) {
        end_nrt(context, release.user_context, has_driver(context));
    }
    return torn != CALOTYPE_OK ? torn : status;
}

/** The lock is held. */
calotype_status release_idle(Release &release) {
    ContextState &context = release.context;
    TeardownList victims;
    calotype_status status = await_idle(release);
    if (status != CALOTYPE_OK) {
        return status;
    }
    take_ready(context, release.me, victims);
    bool is_over = false;
    {
        const Unlocked unlocked(kernel_cache.lock);
        status = end_modules(release, victims);
        is_over = status == CALOTYPE_OK || status == CALOTYPE_E_TEARDOWN;
        if (is_over) {
            context.backend->end_context(release.uid, has_driver(context));
        }
    }
    context.lost |= is_over;
    if (is_over) {
        drop_failed(context);
    }
    return status;
}

calotype_status release_context(Release &release) {
    poll_holds(release.uid);
    ContextState &context = release.context;
    calotype_status status = CALOTYPE_E_CLOSING;
    {
        LockGuard guard(kernel_cache.lock);
        if (context.uid != release.uid || context.lost) {
            status = CALOTYPE_OK;  // it has ended meanwhile
        } else if (!context.is_release_waiting) {
            context.is_release_waiting = true;
            context.users++;
            status = release_idle(release);
            context.users--;
            context.is_release_waiting = context.closing = false;
            watch_for_release(context, false);
            notify_all();
        }
    }
    return status == CALOTYPE_OK || status == CALOTYPE_E_TEARDOWN ? status
                                                                  : fail(status, explain(status));
}

calotype_status release_known(ThreadBlock &me, uint64_t uid, calotype_release_policy policy,
                              uint64_t deadline, calotype_reason reason, void *user_context) {
    ContextState *context = nullptr;
    const KernelBackend *backend = nullptr;
    {
        LockGuard guard(kernel_cache.lock);
        context = find_context(uid);
        backend = context && !context->lost ? context->backend : nullptr;
    }
    if (!backend) {
        return CALOTYPE_OK;
    }
    if (!backend->is_alive(uid)) {
        return on_context_lost(uid);
    }
    Release release{*context, uid, me, policy, deadline, reason, user_context};
    return release_context(release);
}

/** How a context is to be released. */
struct ReleaseRequest {
    calotype_release_policy policy;
    uint64_t deadline;
};

ReleaseRequest make_request(calotype_release_policy policy, uint32_t timeout_ms) {
    return {policy, policy == CALOTYPE_REL_WAIT ? deadline_after_ms(timeout_ms) : no_deadline};
}

calotype_status carry_out(const Call &call, const ReleaseRequest &request) {
    if (call.backend->captures(call.scope)) {
        return fail(CALOTYPE_E_CAPTURE, CALOTYPE_ST_UNLOAD, nullptr, explain(CALOTYPE_E_CAPTURE));
    }
    // Also one in which nothing was loaded: its identity ends.
    if (!find_or_create_context(call) && call.backend->is_alive(call.scope.context_uid)) {
        return fail(CALOTYPE_E_OOM, "no memory for one more context");
    }
    return release_known(*call.me, call.scope.context_uid, request.policy, request.deadline,
                         CALOTYPE_R_CONTEXT_RELEASE, call.scope.user_context);
}

}  // namespace

calotype_status release_context_of(const KernelBackend &backend, void *user_context,
                                   uint32_t timeout_ms) {
    const ReleaseRequest request = make_request(CALOTYPE_REL_WAIT, timeout_ms);
    Call call;
    const calotype_status status = begin_call(user_context, backend, nullptr, &call);
    return status == CALOTYPE_OK ? carry_out(call, request) : status;
}

}  // namespace calotype::runtime

CALOTYPE_WEAK calotype_status calotype_release_context(const calotype_device_context *on,
                                                       calotype_release_policy policy,
                                                       uint32_t timeout_ms) {
    if (uint32_t(policy) > CALOTYPE_REL_FORCE) {
        return refuse_choice("release policy", uint32_t(policy), CALOTYPE_REL_FORCE);
    }
    const ReleaseRequest request = make_request(policy, timeout_ms);
    return for_each_backend(user_context_of(on),
                            [&](const Call &call) { return carry_out(call, request); });
}

CALOTYPE_WEAK calotype_status calotype_shutdown(uint32_t timeout_ms) {
    ThreadBlock *me = this_thread();
    if (!me) {
        return fail_without_block();
    }
    const uint64_t deadline = deadline_after_ms(timeout_ms);
    cancel_prefetches();
    calotype_status first = await_prefetches(deadline);
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
    if (const calotype_status status = check_descriptor(desc)) {
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
