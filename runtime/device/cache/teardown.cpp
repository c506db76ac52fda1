// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/cache/teardown.h"

#include "runtime/device/buffer_lock.h"
#include "runtime/device/cache/fences.h"
#include "runtime/device/cache/images.h"
#include "runtime/device/cache/steps.h"
#include "runtime/device/failure.h"
#include "runtime/host/timed_wait.h"

namespace calotype::runtime {

void TeardownList::add(calotype_entry &entry) {
    entry.next_in_list = nullptr;
    (last ? last->next_in_list : first) = &entry;
    last = &entry;
    count++;
}

bool is_to_be_watched(const calotype_entry &entry) {
    const ContextState &context = *entry.context;
    return entry.evict_when_idle || entry.awaited || context.over_limit || context.closing ||
           context.failed || context.n_stream_holds;
}

void context_has_failed(uint64_t context_uid) {
    LockGuard guard(kernel_cache.lock);
    ContextState *context = find_context(context_uid);
    if (!context || context->failed) {
        return;
    }
    context->failed = true;
    for (calotype_entry *e = context->newest; e; e = e->older) {
        if (e->phase() == Phase::ready) {
            set_watched(*e, true);
        }
    }
}

static bool driver_answers(const ContextState &context) {
    LockGuard guard(kernel_cache.lock);
    return context.has_driver();
}

bool is_held(calotype_entry &entry) {
    // A warm initialize adds its hold and then looks at the word; here it is the other way round.
    // So either the sum has its hold, or it sees the bit and takes the hold back.
    set_watched(entry, true);
    heavy_fence();
    return count_holds(entry.index) != 0;
}

void begin_teardown(calotype_entry &entry, ThreadBlock &me, TeardownList &victims) {
    set_phase(entry, Phase::tearing);
    entry.flight.owner = &me;
    victims.add(entry);
}

bool take_if_idle(calotype_entry &entry, ThreadBlock &me, TeardownList &victims) {
    if (is_held(entry)) {
        set_watched(entry, is_to_be_watched(entry));
        return false;
    }
    begin_teardown(entry, me, victims);
    return true;
}

void unload_module(ContextState &context, const DeviceScope &scope, LoadedModule &module,
                   bool has_driver) {
    const KernelBackend &backend = *context.backend;
    if (backend.close_graphs) {
        backend.close_graphs(&module.graphs, has_driver);
    }
    for_each_function(module, [&](void *function) {
        if (backend.close_function) {
            backend.close_function(function, has_driver);
        }
    });
    detach_nrt(context, scope, module, has_driver);
    if (module.module && has_driver) {
        const Step step("unload", module.desc);
        const calotype_status status = backend.unload(scope, module.module);
        count_in(&context, &calotype_stats::unloads);
        step.end(CALOTYPE_ST_UNLOAD, context.uid, status);
    }
    module.module = nullptr;
}

static void end_entry(calotype_entry &entry) {
    finish_callbacks(*entry.module);
    LockGuard guard(kernel_cache.lock);
    ContextState *context = entry.context;
    count_in(context, &calotype_stats::live_modules, 0 - uint64_t(1));
    count_in(context, &calotype_stats::live_bytes, 0 - entry.module->bytes);
    const calotype_uid uid = uid_of(entry);
    const bool drop_image_too = entry.drop_image_too;
    remove_entry(entry);
    if (drop_image_too) {
        drop_images(uid);
    }
}

/** Wait for the work of the context. False: one of its streams is being captured, and waiting would
 * break the capture. */
static bool await_work(const KernelBackend &backend, const DeviceScope &scope) {
    return !backend.captures(scope) && backend.synchronize(scope) != CALOTYPE_E_CAPTURE;
}

/** Make the entries ready again. False: their context has gone meanwhile. */
static bool put_back(ContextState &context, TeardownList &victims, calotype_reason reason) {
    LockGuard guard(kernel_cache.lock);
    if (context.lost) {
        return false;
    }
    for (calotype_entry *e = victims.first; e; e = e->next_in_list) {
        e->flight.owner = nullptr;
        e->drop_image_too = e->drop_image_too && e->evict_when_idle;
        set_phase(*e, Phase::ready);
        set_watched(*e, is_to_be_watched(*e));
    }
    if (reason == CALOTYPE_R_EVICT) {
        count_in(&context, &calotype_stats::evictions, 0 - uint64_t(victims.count));
    }
    victims = TeardownList();
    notify_all();
    return true;
}

/** At exit another thread may be launching a kernel of the module: then the module is left to the
 * driver. */
static bool is_held_now(const calotype_entry &entry) {
    LockGuard guard(kernel_cache.lock);
    return count_holds(entry.index) != 0;
}

calotype_status tear_down(ContextState &context, TeardownList &victims, calotype_reason reason,
                          void *user_context, ThreadBlock &me) {
    if (!victims.first) {
        return CALOTYPE_OK;
    }
    unlock_thread_buffers();  // callbacks run: the thread may be making room for a buffer's memory
    const KernelBackend &backend = *context.backend;
    DeviceScope scope = context.scope;
    scope.user_context = user_context;
    const FailureScope failures;
    const bool is_entered = driver_answers(context) && backend.is_alive(scope.context_uid) &&
                            backend.enter(scope) == CALOTYPE_OK;
    const bool is_at_exit = reason == CALOTYPE_R_EXIT;  // after work was waited for
    const bool is_captured = is_entered && !is_at_exit && !await_work(backend, scope);
    if (is_captured && put_back(context, victims, reason)) {
        backend.leave(scope);
        return CALOTYPE_E_CAPTURE;
    }
    // The wait for its work is where a context may prove to have failed.
    const bool has_driver = is_entered && driver_answers(context) && !is_captured;
    // Where holds were not asked for, those that were just taken are seen when the entries end.
    heavy_fence();
    Failure failure;
    CallbackSite site{context, scope, reason, me, has_driver};
    if (!has_driver) {
        site.lose_driver();
    }
    for (calotype_entry *e = victims.first; e; e = e->next_in_list) {
        run_teardowns(site, *e->module, &failure);
        if (!is_at_exit || !is_held_now(*e)) {
            unload_module(context, scope, *e->module, site.has_driver);
        }
    }
    if (is_entered) {
        backend.leave(scope);
    }
    // Described before the modules go, since it names them.
    const calotype_status status = failure.status == CALOTYPE_OK ? CALOTYPE_OK : fail(failure);
    while (calotype_entry *e = victims.first) {
        victims.first = e->next_in_list;
        end_entry(*e);
    }
    victims = TeardownList();
    return status;
}

}  // namespace calotype::runtime
