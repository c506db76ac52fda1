// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Holds that end by themselves, in a list of their context: with an event of a stream, or with a
// graph that an application has captured. The driver tells of a graph's end on a thread of its own,
// where nothing may be called that needs the driver, so a mark is left there. The next load,
// eviction, trim or release in the context gives back what has ended: until then the module stays
// loaded.
#include <new>
#include <stdlib.h>

#include "runtime/device/cache/callbacks.h"
#include "runtime/device/cache/kernel_cache.h"
#include "runtime/device/cache/teardown.h"
#include "runtime/device/failure.h"
#include "runtime/host/data/list.h"
#include "runtime/host/weak.h"

using namespace calotype::runtime;

namespace calotype::runtime {

namespace {

LastingHold *new_hold(uint32_t owners) {
    void *memory = malloc(sizeof(LastingHold));
    return memory ? new (memory) LastingHold{{}, nullptr, 0, {owners}, nullptr} : nullptr;
}

void disown(LastingHold *hold) {
    if (hold->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        free(hold);
    }
}

void end_of_graph(void *hold) {
    disown(static_cast<LastingHold *>(hold));
}

bool has_graph_gone(const LastingHold &hold) {
    return hold.is_of_graph() && hold.owners.load(std::memory_order_acquire) == 1;
}

/** Those of the list that are chosen, for the caller to look at without the lock. */
template<typename Choice>
LastingHold *take_holds(uint64_t context_uid, ContextState **context, Choice is_chosen) {
    LockGuard guard(kernel_cache.lock);
    *context = find_context(context_uid);
    return *context ? take_all((*context)->lasting_holds, is_chosen) : nullptr;
}

/** One of a stream. False: the context has gone, and what ends with its streams has ended. The lock
 * is held. */
bool keep(ContextState &context, LastingHold *hold) {
    if (context.lost) {
        return false;
    }
    push(context.lasting_holds, hold);
    calotype_entry &entry = *hold->hold.entry;
    if (entry.phase() == Phase::ready) {
        set_watched(entry, true);  // so that warm calls come and look
    }
    return true;
}

bool put_back(ContextState &context, LastingHold *hold) {
    LockGuard guard(kernel_cache.lock);
    return keep(context, hold);
}

void end(ContextState &context, LastingHold *hold) {
    const calotype_hold held = hold->hold;
    if (!hold->is_of_graph()) {
        LockGuard guard(kernel_cache.lock);
        context.n_stream_holds--;
    }
    disown(hold);
    give_back(held, ReleaseOrigin{false, nullptr});
}

}  // namespace

void poll_holds(uint64_t context_uid) {
    ContextState *context = nullptr;
    LastingHold *holds = take_holds(context_uid, &context, [](const LastingHold &hold) {
        return !hold.is_of_graph() || has_graph_gone(hold);
    });
    while (LastingHold *hold = pop(holds)) {
        const bool has_passed =
            hold->is_of_graph() || context->backend->query_event(hold->event) != CALOTYPE_E_BUSY;
        if (has_passed && hold->event) {
            context->backend->destroy_event(hold->event);
        }
        if (has_passed || !put_back(*context, hold)) {
            end(*context, hold);
        }
    }
}

void drop_holds(ContextState &context, bool has_driver) {
    ContextState *found = nullptr;
    LastingHold *holds = take_holds(context.uid, &found, [](const LastingHold &) { return true; });
    while (LastingHold *hold = pop(holds)) {
        if (has_driver && hold->event) {
            context.backend->destroy_event(hold->event);
        }
        end(context, hold);
    }
}

// ---- with a stream ---------------------------------------------------------------------------

/** Record the event that ends the hold. */
static calotype_status record(const Call &call, void *stream, void **event) {
    const KernelBackend &backend = *call.backend;
    if (backend.captures(call.scope, stream)) {
        return fail(CALOTYPE_E_CAPTURE,
                    "a hold cannot end with a stream that is captured; pin the module for as long "
                    "as the graph lives");
    }
    calotype_status status = backend.enter(call.scope);
    if (status == CALOTYPE_OK) {
        status = backend.record_event(call.scope, stream, event);
        backend.leave(call.scope);
    }
    return status == CALOTYPE_OK ? status
                                 : fail(status, "no event could be recorded for the end of a hold");
}

static calotype_status finalize_after(void *user_context, const calotype_hold &hold, void *stream) {
    Call call;
    calotype_status status =
        begin_call(user_context, *hold.entry->context->backend, nullptr, &call);
    LastingHold *ending = new_hold(1);
    if (status == CALOTYPE_OK && !ending) {
        status = fail(CALOTYPE_E_OOM, "no memory for a hold that ends with a stream");
    }
    if (status == CALOTYPE_OK) {
        status = record(call, stream, &ending->event);
    }
    if (status != CALOTYPE_OK) {
        free(ending);
        return status;
    }
    bool is_kept = true;
    ContextState &context = *hold.entry->context;
    {
        LockGuard guard(kernel_cache.lock);
        status = keep_hold(hold, &ending->hold);
        if (status == CALOTYPE_OK) {
            context.n_stream_holds++;
            is_kept = keep(context, ending);
            notify_all();  // who waits for holds has to look at events from now on
        }
    }
    if (status != CALOTYPE_OK) {
        call.backend->destroy_event(ending->event);
        free(ending);
        return status == CALOTYPE_E_UNDERFLOW ? count_misuse(hold.entry)
                                              : fail(status, "no memory for a count of holds");
    }
    if (!is_kept) {
        end(context, ending);
    }
    return CALOTYPE_OK;
}

// ---- with a graph ----------------------------------------------------------------------------

namespace {

/** The last that this thread has asked for. */
struct Pinned {
    const calotype_entry *entry;
    uint64_t generation;  ///< a forced release may give the entry to another module
    uint64_t capture;
};
constinit thread_local Pinned pinned = {nullptr, 0, 0};

bool is_pinned(const ContextState &context, const calotype_entry &entry, uint64_t capture) {
    return find_in(context.lasting_holds, [&](const LastingHold &pin) {
        return pin.is_of_graph() && pin.hold.entry == &entry && pin.capture == capture &&
               !has_graph_gone(pin);
    });
}

/** A new one in the context's list. Null, with the status: none is needed, or there is no memory.
 */
LastingHold *add_pin(calotype_entry &entry, uint64_t capture, calotype_status *status) {
    LastingHold *pin = new_hold(2);
    LockGuard guard(kernel_cache.lock);
    ContextState &context = *entry.context;
    ThreadBlock *keeper = runtime_block();
    const bool has_memory = keeper && pin && ensure_cell(*keeper, entry.index);
    *status = !has_memory                     ? CALOTYPE_E_OOM
              : entry.phase() != Phase::ready ? CALOTYPE_E_CONTEXT_LOST
                                              : CALOTYPE_OK;
    if (*status != CALOTYPE_OK || is_pinned(context, entry, capture)) {
        free(pin);
        return nullptr;
    }
    pin->hold = grant_hold(entry, *keeper);
    pin->capture = capture;
    push(context.lasting_holds, pin);
    return pin;
}

}  // namespace

calotype_status pin_for_graph(const LoadedModule &module, const DeviceScope &scope, void *stream,
                              uint64_t capture) {
    calotype_entry &entry = *module.entry;
    const uint64_t generation = generation_of(entry.word.load(std::memory_order_relaxed));
    if (pinned.entry == &entry && pinned.generation == generation && pinned.capture == capture) {
        return CALOTYPE_OK;
    }
    stay_in_memory();  // graphs may outlive all else that keeps it there
    calotype_status status = CALOTYPE_OK;
    if (LastingHold *pin = add_pin(entry, capture, &status)) {
        status = module.backend->tie_to_graph(scope, stream, end_of_graph, pin);
    } else if (status != CALOTYPE_OK) {
        set_failure("the module cannot be held for the graph that is being captured");
    }
    if (status == CALOTYPE_OK) {
        pinned = {&entry, generation, capture};
    }
    return status;
}

}  // namespace calotype::runtime

CALOTYPE_WEAK calotype_status calotype_finalize_kernels_after(void *user_context,
                                                              calotype_hold *hold, void *stream) {
    if (!hold) {
        return fail(CALOTYPE_E_INVALID, "no hold is given");
    }
    const uint64_t word = hold->entry ? hold->entry->word.load(std::memory_order_acquire) : 0;
    const bool is_live = hold->entry && phase_of(word) == Phase::ready &&
                         generation_of(word) == hold->generation >> thread_bits;
    if (!is_live || !hold->entry->context->backend->record_event) {
        return calotype_finalize_kernels(user_context, hold);
    }
    const calotype_status status = finalize_after(user_context, *hold, stream);
    if (status == CALOTYPE_OK || status == CALOTYPE_E_UNDERFLOW) {
        *hold = calotype_hold{};
    }
    return status;
}
