// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/cache/teardown.h"

#include <string.h>

#include "runtime/device/cache/fences.h"
#include "runtime/device/cache/images.h"
#include "runtime/device/cache/kernel_cache.h"
#include "runtime/host/weak.h"

using namespace calotype::runtime;

namespace calotype::runtime {

namespace {

struct Load {
    uint64_t modules, bytes;

    void take_off(const calotype_entry &entry) {
        modules--;
        bytes -= entry.module->bytes;
    }
};

Load load_of(const ContextState &context) {
    Load load = {0, 0};
    for (const calotype_entry *e = context.newest; e; e = e->older) {
        if (e->phase() == Phase::ready) {
            load.modules++;
            load.bytes += e->module->bytes;
        }
    }
    return load;
}

bool is_above_limits(const Load &load) {
    const calotype_limits &limits = kernel_cache.limits;
    return limits.policy != CALOTYPE_POLICY_NONE &&
           ((limits.ctx_modules && load.modules > limits.ctx_modules) ||
            (limits.ctx_bytes && load.bytes > limits.ctx_bytes));
}

/** What goes first has the least: by cost, if that is the policy, then by its last use. */
EntryWorth worth_of(const calotype_entry &entry, const EntryUse &use) {
    EntryWorth worth = {0, use.last > entry.loaded_at ? use.last : entry.loaded_at};
    if (kernel_cache.limits.policy == CALOTYPE_POLICY_COST) {
        const double bytes = entry.module->bytes ? double(entry.module->bytes) : 1;
        worth.cost = double(entry.compile_ns) * double(1 + use.hits) / bytes;
    }
    return worth;
}

/** Two sorted lists as one. */
calotype_entry *merge(calotype_entry *a, calotype_entry *b) {
    calotype_entry *first = nullptr, **end = &first;
    while (a && b) {
        calotype_entry *&less = b->worth < a->worth ? b : a;
        *end = less;
        end = &less->next_in_list;
        less = less->next_in_list;
    }
    *end = a ? a : b;
    return first;
}

/** The first `n` of a list, sorted; *rest is what follows them. */
calotype_entry *sort(calotype_entry *list, uint32_t n, calotype_entry **rest) {
    if (n == 1) {
        *rest = list->next_in_list;
        list->next_in_list = nullptr;
        return list;
    }
    calotype_entry *middle = nullptr;
    calotype_entry *first = sort(list, n / 2, &middle);
    return merge(first, sort(middle, n - n / 2, rest));
}

/** Ready entries without holds, those of least worth first. Warm calls go on, so an entry of the
 * list may be held by the time it is looked at again. */
calotype_entry *idle_by_worth(const ContextState &context) {
    calotype_entry *list = nullptr;
    uint32_t n = 0;
    for (calotype_entry *e = context.newest; e; e = e->older) {
        const EntryUse use = e->phase() == Phase::ready ? use_of(e->index) : EntryUse();
        if (e->phase() == Phase::ready && use.holds == 0) {
            e->worth = worth_of(*e, use);
            e->next_in_list = list;
            list = e;
            n++;
        }
    }
    return n ? sort(list, n, &list) : nullptr;
}

/** Take idle entries out of service, those of least worth first, until what is loaded is no longer
 * too much. False: it still is, since the others are held. */
template<typename IsTooMuch>
bool take_least_worthy(ContextState &context, IsTooMuch is_too_much, ThreadBlock &me,
                       TeardownList &victims) {
    Load load = load_of(context);
    calotype_entry *next = is_too_much(load) ? idle_by_worth(context) : nullptr;
    while (next && is_too_much(load)) {
        // As many as are needed, with one heavy fence for all of them; again if some are held by
        // then.
        calotype_entry *end = next;
        for (Load left = load; end && is_too_much(left); end = end->next_in_list) {
            set_watched(*end, true);
            left.take_off(*end);
        }
        heavy_fence();
        while (next != end) {
            calotype_entry &entry = *next;
            next = entry.next_in_list;
            if (count_holds(entry.index) != 0) {
                set_watched(entry, is_to_be_watched(entry));
                continue;
            }
            load.take_off(entry);
            begin_teardown(entry, me, victims);
            count_in(&context, &calotype_stats::evictions);
        }
    }
    return !is_too_much(load);
}

void watch_all(ContextState &context) {
    for (calotype_entry *e = context.newest; e; e = e->older) {
        if (e->phase() == Phase::ready) {
            set_watched(*e, is_to_be_watched(*e));
        }
    }
}

void set_over_limit(ContextState &context, bool over) {
    if (over != context.over_limit) {
        context.over_limit = over;
        watch_all(context);
    }
}

void take_deferred(ContextState &context, ThreadBlock &me, TeardownList &victims) {
    for (calotype_entry *e = context.newest; e; e = e->older) {
        if (e->phase() == Phase::ready && e->evict_when_idle && take_if_idle(*e, me, victims)) {
            count_in(&context, &calotype_stats::evictions);
        }
    }
}

}  // namespace

void choose_victims(ContextState &context, ThreadBlock &me, TeardownList &victims) {
    if (context.closing || context.lost) {
        return;
    }
    take_deferred(context, me, victims);
    bool is_within = take_least_worthy(context, is_above_limits, me, victims);
    if (!is_within && !context.over_limit) {
        // Watch all finalizes from now on, and see what was given back before that.
        set_over_limit(context, true);
        heavy_fence();
        is_within = take_least_worthy(context, is_above_limits, me, victims);
    }
    if (is_within) {
        set_over_limit(context, false);
    } else {
        count_in(&context, &calotype_stats::over_limit);
    }
}

calotype_status tear_down_chosen(ContextState &context, TeardownList &victims, void *user_context,
                                 ThreadBlock &me) {
    const calotype_status status = tear_down(context, victims, CALOTYPE_R_EVICT, user_context, me);
    if (status != CALOTYPE_E_CAPTURE) {
        return status;
    }
    LockGuard guard(kernel_cache.lock);
    set_over_limit(context, true);
    return CALOTYPE_OK;
}

calotype_status evict_idle(ContextState &context, uint64_t target_bytes, void *user_context,
                           ThreadBlock &me, uint64_t *freed) {
    TeardownList victims;
    {
        LockGuard guard(kernel_cache.lock);
        const auto is_too_much = [=](const Load &load) {
            return load.bytes > target_bytes || (target_bytes == 0 && load.modules > 0);
        };
        if (!context.closing && !context.lost) {
            take_least_worthy(context, is_too_much, me, victims);
        }
    }
    uint64_t bytes = 0;
    for (calotype_entry *e = victims.first; e; e = e->next_in_list) {
        bytes += e->module->bytes;
    }
    const calotype_status status = tear_down(context, victims, CALOTYPE_R_EVICT, user_context, me);
    *freed += status == CALOTYPE_E_CAPTURE ? 0 : bytes;
    return status;
}

// ---- calotype_evict --------------------------------------------------------------------------

namespace {

/** What becomes of a request under the lock. */
calotype_status evict_entry(calotype_entry &entry, uint32_t flags, ThreadBlock &me,
                            TeardownList &victims) {
    const bool defer = flags & CALOTYPE_EVICT_DEFER;
    // Said before holds are counted, so that a finalize beside this either is counted or evicts.
    entry.evict_when_idle |= defer;
    if (entry.phase() == Phase::ready && take_if_idle(entry, me, victims)) {
        entry.drop_image_too = flags & CALOTYPE_EVICT_IMAGE_TOO;
        count_in(entry.context, &calotype_stats::evictions);
        return CALOTYPE_OK;
    }
    if (entry.flight.owner == &me && !defer) {
        return CALOTYPE_E_REENTRANT;
    }
    if (entry.phase() == Phase::tearing || entry.phase() == Phase::failed) {
        return CALOTYPE_OK;
    }
    if (!defer) {
        return CALOTYPE_E_BUSY;
    }
    entry.drop_image_too |= bool(flags & CALOTYPE_EVICT_IMAGE_TOO);
    set_watched(entry, true);
    return CALOTYPE_OK;
}

/** That a capture put the teardown off is for the caller to know. */
static calotype_status explain_capture(calotype_status status) {
    return status != CALOTYPE_E_CAPTURE
               ? status
               : fail(status, CALOTYPE_ST_UNLOAD, nullptr,
                      "modules cannot be unloaded while a stream is captured");
}

calotype_status evict_module(const Call &call, const calotype_module_desc &desc, uint32_t flags) {
    if (call.backend->captures(call.scope)) {
        return fail(CALOTYPE_E_CAPTURE, CALOTYPE_ST_UNLOAD, desc.name,
                    "a module cannot be unloaded while its stream is captured");
    }
    poll_holds(call.scope.context_uid);
    TeardownList victims;
    calotype_status status = CALOTYPE_OK;
    ContextState *context = nullptr;
    {
        LockGuard guard(kernel_cache.lock);
        context = find_context(call.scope.context_uid);
        calotype_entry *entry = find_entry(KernelKey(call.scope.context_uid, desc.uid));
        if (entry) {
            status = evict_entry(*entry, flags, *call.me, victims);
        } else if (flags & CALOTYPE_EVICT_IMAGE_TOO) {
            drop_images(desc.uid);
        }
    }
    if (status != CALOTYPE_OK) {
        return fail(status, CALOTYPE_ST_NONE, desc.name, "the module is in use");
    }
    status = context
                 ? tear_down(*context, victims, CALOTYPE_R_EVICT, call.scope.user_context, *call.me)
                 : CALOTYPE_OK;
    const bool is_deferred = status == CALOTYPE_E_CAPTURE && (flags & CALOTYPE_EVICT_DEFER);
    return is_deferred ? CALOTYPE_OK : explain_capture(status);
}

calotype_status trim_context(const Call &call, uint64_t target_bytes, uint64_t *freed) {
    if (call.backend->captures(call.scope)) {
        return explain_capture(CALOTYPE_E_CAPTURE);
    }
    poll_holds(call.scope.context_uid);
    ContextState *context = nullptr;
    {
        LockGuard guard(kernel_cache.lock);
        context = find_context(call.scope.context_uid);
    }
    void *user_context = call.scope.user_context;
    return context
               ? explain_capture(evict_idle(*context, target_bytes, user_context, *call.me, freed))
               : CALOTYPE_OK;
}

/** The newest context of the device with an identity below `uid`, kept in use. Null if
 * there is none. */
ContextState *use_next_older(const KernelBackend &backend, int32_t device, uint64_t uid) {
    LockGuard guard(kernel_cache.lock);
    ContextState *found = nullptr;
    for (ContextState *c = kernel_cache.contexts; c; c = c->next) {
        if (!c->lost && c->backend == &backend && c->scope.device == device && c->uid < uid &&
            (!found || c->uid > found->uid)) {
            found = c;
        }
    }
    if (found) {
        found->users++;
    }
    return found;
}

}  // namespace

void trim_device(const KernelBackend &backend, int32_t device, const DeviceScope &scope) {
    ThreadBlock *me = this_thread();
    uint64_t uid = UINT64_MAX;
    while (ContextState *context = me ? use_next_older(backend, device, uid) : nullptr) {
        uid = context->uid;
        uint64_t freed = 0;
        if (!backend.captures(context->scope)) {
            evict_idle(*context, 0, scope.user_context, *me, &freed);
        }
        LockGuard guard(kernel_cache.lock);
        context->users--;
    }
}

}  // namespace calotype::runtime

CALOTYPE_WEAK calotype_status calotype_evict(const calotype_device_context *on,
                                             const calotype_module_desc *desc, uint32_t flags) {
    Call call;
    const calotype_status status = begin_call(user_context_of(on), desc, &call);
    return status == CALOTYPE_OK ? evict_module(call, *desc, flags) : status;
}

CALOTYPE_WEAK calotype_status calotype_trim(const calotype_device_context *on,
                                            uint64_t target_bytes, uint64_t *freed) {
    uint64_t unwanted = 0;
    freed = freed ? freed : &unwanted;
    *freed = 0;
    return for_each_backend(user_context_of(on), [=](const Call &call) {
        return trim_context(call, target_bytes, freed);
    });
}

CALOTYPE_WEAK calotype_status calotype_set_limits(const calotype_limits *limits) {
    if (!limits || limits->size < sizeof *limits) {
        return fail(CALOTYPE_E_INVALID, "calotype_limits::size is less than that of the structure");
    }
    uint32_t policy = 0;  // whatever C has put there
    static_assert(sizeof policy == sizeof limits->policy);
    memcpy(&policy, &limits->policy, sizeof policy);
    if (policy > CALOTYPE_POLICY_NONE) {
        return refuse_choice("eviction policy", policy, CALOTYPE_POLICY_NONE);
    }
    LockGuard guard(kernel_cache.lock);
    kernel_cache.limits = *limits;
    limit_images();
    // The call names no context: another thread may be capturing in one, or have destroyed it.
    for (ContextState *context = kernel_cache.contexts; context; context = context->next) {
        if (!context->lost && is_above_limits(load_of(*context))) {
            set_over_limit(*context, true);
        }
    }
    notify_all();
    return CALOTYPE_OK;
}

CALOTYPE_WEAK calotype_status calotype_get_limits(calotype_limits *limits) {
    if (!limits || limits->size < sizeof *limits) {
        return fail(CALOTYPE_E_INVALID, "calotype_limits::size is less than that of the structure");
    }
    LockGuard guard(kernel_cache.lock);
    *limits = kernel_cache.limits;
    limits->size = sizeof *limits;
    return CALOTYPE_OK;
}
