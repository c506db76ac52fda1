// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Holds that end with a stream: kept in a list of their context with the event that ends them.
#include <stdlib.h>

#include "runtime/device/cache/kernel_cache.h"
#include "runtime/device/cache/teardown.h"
#include "runtime/device/list.h"
#include "runtime/host/weak.h"

using namespace calotype::runtime;

namespace calotype::runtime {

/** The whole list, for the caller to look at without the lock. */
static StreamHold *take_list(uint64_t context_uid, ContextState **context) {
    LockGuard guard(kernel_cache.lock);
    *context = find_context(context_uid);
    if (!*context) {
        return nullptr;
    }
    StreamHold *list = (*context)->stream_holds;
    (*context)->stream_holds = nullptr;
    return list;
}

/** False: the context has gone, and what ends with its streams has ended. The lock is held. */
static bool keep(ContextState &context, StreamHold *hold) {
    if (context.lost) {
        return false;
    }
    push(context.stream_holds, hold);
    calotype_entry &entry = *hold->hold.entry;
    if (entry.phase() == Phase::ready) {
        set_watched(entry, true);  // so that warm calls come and look
    }
    return true;
}

static bool put_back(ContextState &context, StreamHold *hold) {
    LockGuard guard(kernel_cache.lock);
    return keep(context, hold);
}

static void end(ContextState &context, StreamHold *hold) {
    {
        LockGuard guard(kernel_cache.lock);
        context.n_stream_holds--;
    }
    give_back(hold->hold, ReleaseOrigin{false, nullptr});
    free(hold);
}

void poll_holds(uint64_t context_uid) {
    poll_graph_pins(context_uid);
    ContextState *context = nullptr;
    StreamHold *holds = take_list(context_uid, &context);
    while (StreamHold *hold = pop(holds)) {
        const bool has_passed = context->backend->query_event(hold->event) != CALOTYPE_E_BUSY;
        if (has_passed) {
            context->backend->destroy_event(hold->event);
        }
        if (has_passed || !put_back(*context, hold)) {
            end(*context, hold);
        }
    }
}

void drop_holds(ContextState &context, bool has_driver) {
    drop_graph_pins(context);
    ContextState *found = nullptr;
    StreamHold *holds = take_list(context.uid, &found);
    while (StreamHold *hold = pop(holds)) {
        if (has_driver) {
            context.backend->destroy_event(hold->event);
        }
        end(context, hold);
    }
}

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
    StreamHold *ending = static_cast<StreamHold *>(calloc(1, sizeof(StreamHold)));
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
