// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/cache/table.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/device/cache/errors.h"
#include "runtime/device/cache/module.h"
#include "runtime/host/data/list.h"
#include "runtime/host/timed_wait.h"

namespace calotype::runtime {

constinit KernelCache kernel_cache;

calotype_uid uid_of(const calotype_entry &entry) {
    calotype_uid uid;
    for (int i = 0; i < 4; i++) {
        const uint64_t word = entry.key[i + 1].load(std::memory_order_relaxed);
        memcpy(uid.b + 8 * i, &word, sizeof word);
    }
    return uid;
}

// ---- the table -------------------------------------------------------------------------------

static Table *make_table(uint64_t size, Table *older) {
    const size_t bytes = sizeof(Table) + (size - 1) * sizeof(std::atomic<calotype_entry *>);
    Table *table = static_cast<Table *>(calloc(1, bytes));
    if (table) {
        table->mask = size - 1;
        table->older = older;
    }
    return table;
}

static void push_into_chain(Table &table, calotype_entry &entry, const KernelKey &key) {
    std::atomic<calotype_entry *> &head = table.chains[key.hash() & table.mask];
    entry.next_in_chain.store(head.load(std::memory_order_relaxed), std::memory_order_release);
    head.store(&entry, std::memory_order_release);
}

static KernelKey key_of(const calotype_entry &entry) {
    return KernelKey(entry.key[0].load(std::memory_order_relaxed), uid_of(entry));
}

/** Move all entries to a table twice as large. Readers of the old one may miss some meanwhile. Old
 * tables stay, all of them together smaller than the new one. */
static bool grow_table() {
    Table *old = kernel_cache.table.load(std::memory_order_relaxed);
    Table *grown = make_table(old ? 2 * (old->mask + 1) : 64, old);
    if (!grown) {
        return old != nullptr;  // longer chains, then
    }
    for (uint64_t i = 0; old && i <= old->mask; i++) {
        calotype_entry *e = old->chains[i].load(std::memory_order_relaxed);
        while (e) {
            calotype_entry *next = e->next_in_chain.load(std::memory_order_relaxed);
            push_into_chain(*grown, *e, key_of(*e));
            e = next;
        }
    }
    kernel_cache.table.store(grown, std::memory_order_release);
    return true;
}

static void take_out_of_chain(calotype_entry &entry) {
    Table *table = kernel_cache.table.load(std::memory_order_relaxed);
    std::atomic<calotype_entry *> *link = &table->chains[key_of(entry).hash() & table->mask];
    while (calotype_entry *e = link->load(std::memory_order_relaxed)) {
        if (e == &entry) {
            link->store(e->next_in_chain.load(std::memory_order_relaxed),
                        std::memory_order_release);
            kernel_cache.n_in_table--;
            return;
        }
        link = &e->next_in_chain;
    }
}

calotype_entry *find_entry(const KernelKey &key) {
    const Table *table = kernel_cache.table.load(std::memory_order_relaxed);
    calotype_entry *e =
        table ? table->chains[key.hash() & table->mask].load(std::memory_order_relaxed) : nullptr;
    while (e && !e->has_key(key)) {
        e = e->next_in_chain.load(std::memory_order_relaxed);
    }
    return e;
}

// ---- entries ---------------------------------------------------------------------------------

static bool make_entries() {
    KernelCache &cache = kernel_cache;
    if (cache.n_entries == max_entries) {
        return false;
    }
    void *memory = nullptr;
    constexpr size_t size = KernelCache::entries_a_slab * sizeof(calotype_entry);
    if (posix_memalign(&memory, alignof(calotype_entry), size) != 0) {
        return false;
    }
    memset(memory, 0, size);
    calotype_entry *slab = static_cast<calotype_entry *>(memory);
    cache.slabs[cache.n_entries / KernelCache::entries_a_slab] = slab;
    for (uint32_t i = 0; i < KernelCache::entries_a_slab; i++) {
        slab[i].index = cache.n_entries++;
        slab[i].word.store(uint64_t(1) << generation_shift, std::memory_order_relaxed);
        slab[i].next_free = cache.free_entries;
        cache.free_entries = &slab[i];
    }
    return true;
}

static void link_into_context(calotype_entry &entry) {
    entry.newer = nullptr;
    entry.older = entry.context->newest;
    if (entry.older) {
        entry.older->newer = &entry;
    }
    entry.context->newest = &entry;
}

static void unlink_from_context(calotype_entry &entry) {
    (entry.newer ? entry.newer->older : entry.context->newest) = entry.older;
    if (entry.older) {
        entry.older->newer = entry.newer;
    }
    entry.newer = entry.older = nullptr;
}

void make_newest(calotype_entry &entry) {
    unlink_from_context(entry);
    link_into_context(entry);
}

calotype_entry *add_entry(const KernelKey &key, ContextState &context, ThreadBlock &owner) {
    KernelCache &cache = kernel_cache;
    const Table *table = cache.table.load(std::memory_order_relaxed);
    if ((!cache.free_entries && !make_entries()) ||
        ((!table || cache.n_in_table > table->mask) && !grow_table())) {
        return nullptr;
    }
    calotype_entry *entry = cache.free_entries;
    if (!ensure_cell(owner, entry->index)) {
        return nullptr;
    }
    cache.free_entries = entry->next_free;
    for (int i = 0; i < 5; i++) {
        entry->key[i].store(key.words[i], std::memory_order_release);
    }
    entry->context = &context;
    entry->flight.owner = &owner;
    entry->loaded_at = entry->compile_ns = 0;
    entry->evict_when_idle = entry->drop_image_too = entry->awaited = false;
    set_watched(*entry, false);
    set_phase(*entry, Phase::busy);
    push_into_chain(*cache.table.load(std::memory_order_relaxed), *entry, key);
    cache.n_in_table++;
    link_into_context(*entry);
    return entry;
}

static void free_entry(calotype_entry &entry) {
    count_in(entry.context, &calotype_stats::hits, use_of(entry.index).hits);
    clear_cells(entry.index);
    free_module(entry.module);
    entry.module = nullptr;
    const uint64_t generation =
        (entry.word.load(std::memory_order_relaxed) >> generation_shift) + 1;
    entry.word.store(generation << generation_shift | uint64_t(Phase::free));
    entry.next_free = kernel_cache.free_entries;
    kernel_cache.free_entries = &entry;
    entry.context->n_orphans--;
}

void remove_entry(calotype_entry &entry) {
    take_out_of_chain(entry);
    unlink_from_context(entry);
    entry.flight.owner = nullptr;
    drop_error(entry.error);
    entry.error = nullptr;
    set_phase(entry, Phase::orphaned);
    entry.context->n_orphans++;
    reclaim_if_idle(entry);
    notify_all();
}

void reclaim_if_idle(calotype_entry &entry) {
    if (entry.phase() == Phase::orphaned && count_holds(entry.index) == 0) {
        free_entry(entry);
    }
}

void set_phase(calotype_entry &entry, Phase phase) {
    const uint64_t word = entry.word.load(std::memory_order_relaxed);
    entry.word.store((word & ~phase_mask) | uint64_t(phase), std::memory_order_seq_cst);
}

void set_watched(calotype_entry &entry, bool watched) {
    const uint64_t word = entry.word.load(std::memory_order_relaxed);
    entry.word.store((word & ~watched_bit) | (watched ? watched_bit : 0),
                     std::memory_order_seq_cst);
}

// ---- contexts --------------------------------------------------------------------------------

ContextState *find_context(uint64_t uid) {
    return find_in(kernel_cache.contexts, [=](const ContextState &c) { return c.uid == uid; });
}

/** Whether the record of a lost context can serve another: nothing refers to it. */
static bool is_reclaimable(const ContextState &context) {
    return context.lost && !context.newest && !context.n_orphans && !context.users &&
           !context.closing && !context.is_release_waiting && !context.n_stream_holds &&
           !context.lasting_holds && !context.nrt.memsys && !context.nrt.modules;
}

/** A new record at the head of the list, or where there are many that of the oldest context that
 * has gone. */
static ContextState *unused_context() {
    ContextState *oldest = nullptr;
    for (ContextState *c = kernel_cache.contexts; c; c = c->next) {
        if (kernel_cache.n_contexts >= few_contexts && is_reclaimable(*c) &&
            (!oldest || c->uid < oldest->uid)) {
            oldest = c;
        }
    }
    if (oldest) {
        ContextState *next = oldest->next;
        memset(static_cast<void *>(oldest), 0, sizeof *oldest);
        oldest->next = next;
        return oldest;
    }
    ContextState *made = static_cast<ContextState *>(calloc(1, sizeof(ContextState)));
    if (made) {
        push(kernel_cache.contexts, made);
        kernel_cache.n_contexts++;
    }
    return made;
}

uint64_t new_context_uid() {
    static constinit std::atomic<uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

ContextState *add_context(const KernelBackend &backend, const DeviceScope &scope) {
    ContextState *context = unused_context();
    if (!context) {
        return nullptr;
    }
    context->uid = scope.context_uid;
    context->backend = &backend;
    context->scope = scope;
    context->scope.user_context = nullptr;
    context->scope.stream = nullptr;
    return context;
}

// ---- waiting ---------------------------------------------------------------------------------

void notify_all() {
    kernel_cache.changed.fetch_add(1, std::memory_order_release);
    futex_wake(kernel_cache.changed, everyone);
}

void wait_for_change(uint64_t deadline_ns) {
    const uint32_t seen = kernel_cache.changed.load(std::memory_order_acquire);
    const Unlocked unlocked(kernel_cache.lock);
    futex_wait_until(kernel_cache.changed, seen, deadline_ns);
}

calotype_status wait_for_others(ThreadBlock &me, const WaitNode &what, uint64_t deadline_ns) {
    const calotype_status status = check_wait(me, what);
    if (status == CALOTYPE_OK) {
        me.waits_on = &what;
        wait_for_change(deadline_ns);
        me.waits_on = nullptr;
    }
    return status;
}

}  // namespace calotype::runtime
