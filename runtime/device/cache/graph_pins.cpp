// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A pin is the list's of its context and the graph's. The driver tells of a graph's end on a thread
// of its own, where nothing may be called that needs the driver, so a mark is left there, and the
// hold is given back by the next load, eviction, trim or release in the context: until then the
// module stays loaded.

#include <stdlib.h>

#include "runtime/device/cache/callbacks.h"
#include "runtime/device/cache/kernel_cache.h"
#include "runtime/device/failure.h"
#include "runtime/device/list.h"

namespace calotype::runtime {

/** Freed by the last of its two owners. */
struct GraphPin {
    calotype_hold hold;
    uint64_t capture;
    std::atomic<uint32_t> owners;
    GraphPin *next;
};

namespace {

/** The last that this thread has asked for. */
struct Pinned {
    const calotype_entry *entry;
    uint64_t generation;  ///< a forced release may give the entry to another module
    uint64_t capture;
};
constinit thread_local Pinned pinned = {nullptr, 0, 0};

void disown(GraphPin *pin) {
    if (pin->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        free(pin);
    }
}

void end_of_graph(void *pin) {
    disown(static_cast<GraphPin *>(pin));
}

bool has_graph_gone(const GraphPin &pin) {
    return pin.owners.load(std::memory_order_acquire) == 1;
}

bool is_pinned(const ContextState &context, const calotype_entry &entry, uint64_t capture) {
    return find_in(context.graph_pins, [&](const GraphPin &pin) {
        return pin.hold.entry == &entry && pin.capture == capture && !has_graph_gone(pin);
    });
}

/** A new one in the context's list. Null, with the status: none is needed, or there is no memory.
 */
GraphPin *add_pin(calotype_entry &entry, uint64_t capture, calotype_status *status) {
    GraphPin *pin = static_cast<GraphPin *>(calloc(1, sizeof(GraphPin)));
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
    pin->owners.store(2, std::memory_order_relaxed);
    push(context.graph_pins, pin);
    return pin;
}

void end_all(GraphPin *pins) {
    while (GraphPin *pin = pop(pins)) {
        const calotype_hold hold = pin->hold;
        disown(pin);
        give_back(hold, ReleaseOrigin{false, nullptr});
    }
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
    if (GraphPin *pin = add_pin(entry, capture, &status)) {
        status = module.backend->tie_to_graph(scope, stream, end_of_graph, pin);
    } else if (status != CALOTYPE_OK) {
        set_failure("the module cannot be held for the graph that is being captured");
    }
    if (status == CALOTYPE_OK) {
        pinned = {&entry, generation, capture};
    }
    return status;
}

void poll_graph_pins(uint64_t context_uid) {
    GraphPin *ended = nullptr;
    {
        LockGuard guard(kernel_cache.lock);
        if (ContextState *context = find_context(context_uid)) {
            ended = take_all(context->graph_pins, has_graph_gone);
        }
    }
    end_all(ended);
}

void drop_graph_pins(ContextState &context) {
    GraphPin *all = nullptr;
    {
        LockGuard guard(kernel_cache.lock);
        all = take_all(context.graph_pins, [](const GraphPin &) { return true; });
    }
    end_all(all);
}

}  // namespace calotype::runtime
