// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counters. Hits are counted in the cells of threads and added up when asked.
#include "runtime/device/kernel_stats.h"

#include <initializer_list>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device/cache/kernel_cache.h"
#include "runtime/device/cache/module.h"
#include "runtime/host/call_guarded.h"
#include "runtime/host/weak.h"

using namespace calotype::runtime;

namespace calotype::runtime {

namespace {

/** Of the structure before fields were added at its end. */
constexpr size_t oldest_size = offsetof(calotype_stats, graphs);

constinit std::atomic<uint64_t> totals[n_counters] = {};
uint64_t totals_base[n_counters] = {};

/** Not counts of events but of what there is. */
constexpr Counter levels[] = {&calotype_stats::live_modules, &calotype_stats::live_bytes,
                              &calotype_stats::image_bytes, &calotype_stats::holds};

bool is_level(uint32_t index) {
    bool found = false;
    for (const Counter level : levels) {
        found |= index == index_of(level);
    }
    return found;
}

/** The use of what a context has loaded, with orphans. The lock is held. */
EntryUse use_in(const ContextState &context) {
    EntryUse sum;
    for (uint32_t i = 0; i < kernel_cache.n_entries; i++) {
        const calotype_entry &entry = kernel_cache.entry(i);
        if (entry.phase() != Phase::free && entry.context == &context) {
            const EntryUse use = use_of(i);
            sum.hits += use.hits;
            sum.holds += use.holds;
        }
    }
    return sum;
}

void sum_up(const ContextState *context, uint64_t values[n_counters]) {
    for (uint32_t i = 0; i < n_counters; i++) {
        values[i] = (context ? context->counters : totals)[i].load(std::memory_order_relaxed);
    }
    // Cells of free entries are zero.
    const EntryUse use = context ? use_in(*context) : use_of_all();
    values[index_of(&calotype_stats::hits)] += use.hits;
    values[index_of(&calotype_stats::holds)] += use.holds;
}

}  // namespace

void count_in(ContextState *context, Counter counter, uint64_t n) {
    totals[index_of(counter)].fetch_add(n, std::memory_order_relaxed);
    if (context) {
        context->counters[index_of(counter)].fetch_add(n, std::memory_order_relaxed);
    }
}

void count(uint64_t context_uid, Counter counter, uint64_t n) {
    LockGuard guard(kernel_cache.lock);
    count_in(context_uid ? find_context(context_uid) : nullptr, counter, n);
}

void forget_live_modules() {
    for (const Counter counter : {&calotype_stats::live_modules, &calotype_stats::live_bytes}) {
        totals[index_of(counter)].store(0, std::memory_order_relaxed);
    }
}

namespace {

/** What is told of a module, with its name behind it. */
struct ModuleNote {
    calotype_module_info info;
    ModuleNote *next;
};

/** Null: out of memory. */
ModuleNote *note_module(const calotype_entry &entry) {
    const LoadedModule &module = *entry.module;
    const size_t size = strlen(module.desc.name) + 1;
    auto *note = static_cast<ModuleNote *>(malloc(sizeof(ModuleNote) + size));
    if (note) {
        const char *name = static_cast<const char *>(memcpy(note + 1, module.desc.name, size));
        const EntryUse use = use_of(entry.index);
        note->info = {sizeof note->info,  module.n_functions, name,      uid_of(entry),
                      entry.context->uid, module.bytes,       use.holds, use.hits};
    }
    return note;
}

/** False: out of memory. */
bool note_modules(uint64_t context_uid, ModuleNote **list) {
    LockGuard guard(kernel_cache.lock);
    for (const ContextState *c = kernel_cache.contexts; c; c = c->next) {
        const bool is_asked = context_uid == 0 || c->uid == context_uid;
        for (const calotype_entry *e = is_asked ? c->newest : nullptr; e; e = e->older) {
            if (e->phase() != Phase::ready) {
                continue;
            }
            *list = note_module(*e);
            if (!*list) {
                return false;
            }
            list = &(*list)->next;
            *list = nullptr;
        }
    }
    return true;
}

}  // namespace

}  // namespace calotype::runtime

CALOTYPE_WEAK calotype_status calotype_enumerate_modules(uint64_t ctx_uid, calotype_module_fn f,
                                                         void *self) {
    if (!f) {
        return fail(CALOTYPE_E_INVALID, "no function is given");
    }
    ModuleNote *notes = nullptr;
    const bool is_complete = note_modules(ctx_uid, &notes);
    while (ModuleNote *note = notes) {
        notes = note->next;
        if (is_complete) {
            call_guarded([&] { f(self, &note->info); });
        }
        free(note);
    }
    return is_complete ? CALOTYPE_OK : fail(CALOTYPE_E_OOM, "no memory for the list of modules");
}

CALOTYPE_WEAK calotype_status calotype_get_stats(uint64_t ctx_uid, calotype_stats *stats) {
    if (!stats || stats->size < oldest_size) {
        return fail(CALOTYPE_E_INVALID, "calotype_stats::size is less than that of the structure");
    }
    uint64_t values[n_counters];
    {
        LockGuard guard(kernel_cache.lock);
        const ContextState *context = ctx_uid ? find_context(ctx_uid) : nullptr;
        if (ctx_uid && !context) {
            memset(values, 0, sizeof values);  // a context that has loaded nothing
        } else {
            sum_up(context, values);
            for (uint32_t i = 0; i < n_counters; i++) {
                values[i] -= is_level(i) ? 0 : (context ? context->base : totals_base)[i];
            }
        }
    }
    const size_t room = stats->size < sizeof *stats ? stats->size : sizeof *stats;
    stats->size = uint32_t(room);
    stats->reserved = 0;
    memcpy(&stats->misses, values, room - offsetof(calotype_stats, misses));
    return CALOTYPE_OK;
}

CALOTYPE_WEAK calotype_status calotype_reset_stats(void) {
    LockGuard guard(kernel_cache.lock);
    sum_up(nullptr, totals_base);
    for (ContextState *c = kernel_cache.contexts; c; c = c->next) {
        sum_up(c, c->base);
    }
    return CALOTYPE_OK;
}
