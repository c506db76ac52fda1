// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The data of the kernel cache: entries in a hash table, contexts, and the one lock.
//
// The lock is held for a few steps at a time and never while anything is read from disk, compiled,
// linked, loaded, unloaded or called back. What says "guarded" is guarded by it.
//
// Entries are type-stable: their memory only ever serves entries, so that a thread may look at one
// without a lock and find out afterwards, by its generation, whether it was the right one. The
// table is an array of chains. A thread that walks one without a lock can end up in another chain
// when an entry moves; then it finds nothing and asks again under the lock.
#pragma once

#include "runtime/device/cache/nrt.h"
#include "runtime/device/cache/threads.h"
#include "runtime/device/kernel_backend.h"
#include "runtime/device/kernel_stats.h"
#include "runtime/host/sync.h"

namespace calotype::runtime {

enum class Phase : uint32_t {
    free,      ///< not in the table
    busy,      ///< its flight is on the way
    ready,     ///< loaded
    failed,    ///< for good: answers with its error
    tearing,   ///< being torn down
    orphaned,  ///< torn down while held: waits for its holds
};

/** Generation, whether finalizes and initializes must look closer, and phase. */
constexpr uint64_t watched_bit = 0x80, phase_mask = 0x7f;
constexpr uint32_t generation_shift = 8;
inline Phase phase_of(uint64_t word) {
    return Phase(word & phase_mask);
}
/** Of 40 bits, as the holds have it. */
inline uint64_t generation_of(uint64_t word) {
    return (word >> generation_shift) & 0xffffffffff;
}
/** A loaded module that initialize may hold without a lock. */
inline bool is_plainly_ready(uint64_t word) {
    return (word & 0xff) == uint64_t(Phase::ready);
}

/** calotype_hold::generation: that of the entry, and the number of the thread that counts it. */
constexpr uint32_t thread_bits = 24;
inline uint64_t hold_ticket(uint64_t generation, uint32_t thread) {
    return generation << thread_bits | thread;
}

struct KernelKey {
    uint64_t words[5];  ///< context uid, module uid

    KernelKey(uint64_t context_uid, const calotype_uid &uid) {
        words[0] = context_uid;
        __builtin_memcpy(words + 1, uid.b, sizeof uid.b);
    }
    uint64_t hash() const {
        uint64_t h = (words[0] * 0x9e3779b97f4a7c15u) ^ words[1] ^ (words[4] << 7);
        h *= 0xff51afd7ed558ccdu;
        return h ^ (h >> 32);
    }
};

/** One call of initialize that waits for another's flight; on the stack of its thread. */
struct Waiter {
    ThreadBlock *thread;
    Waiter *next;
    FlightError *error;  ///< of a flight that failed
    calotype_status status;
    FutexWord done;
};

/** Which of two modules is evicted first: the lesser. */
struct EntryWorth {
    double cost;
    uint64_t used;

    bool operator<(const EntryWorth &other) const {
        return cost < other.cost || (cost == other.cost && used < other.used);
    }
};

struct LoadedModule;
struct ContextState;

}  // namespace calotype::runtime

struct alignas(64) calotype_entry {
    // One cache line for the warm path.
    std::atomic<uint64_t> word;
    std::atomic<uint64_t> key[5];
    std::atomic<calotype_entry *> next_in_chain;
    uint32_t index;  ///< never changes

    /** A thread with a hold may read it; all others need the lock. */
    calotype::runtime::LoadedModule *module;

    // Guarded.
    calotype::runtime::ContextState *context;
    calotype::runtime::WaitNode flight;  ///< owned while busy and tearing
    calotype::runtime::Waiter *first_waiter;
    calotype::runtime::FlightError *error;  ///< of a failed one
    calotype_entry *newer, *older;          ///< of the same context; list by time of loading
    calotype_entry *next_free, *next_in_list;
    calotype::runtime::EntryWorth worth;  ///< as eviction saw it last
    uint64_t loaded_at;                   ///< epoch
    uint64_t compile_ns;
    bool evict_when_idle;  ///< calotype_evict with CALOTYPE_EVICT_DEFER
    bool drop_image_too;
    bool awaited;  ///< by a release: tell it of every finalize

    calotype::runtime::Phase phase() const {
        return calotype::runtime::phase_of(word.load(std::memory_order_relaxed));
    }
    bool has_key(const calotype::runtime::KernelKey &other) const {
        uint64_t difference = 0;
#pragma GCC unroll 5
        for (int i = 0; i < 5; i++) {
            difference |= key[i].load(std::memory_order_acquire) ^ other.words[i];
        }
        return difference == 0;
    }
};

namespace calotype::runtime {

/** A hold that ends by itself; freed by the last of its owners: the list, and the graph if it ends
 * with one. */
struct LastingHold {
    calotype_hold hold;
    void *event;       ///< of a stream; null: it ends with a graph
    uint64_t capture;  ///< that the graph comes of
    std::atomic<uint32_t> owners;
    LastingHold *next;

    bool is_of_graph() const {
        return !event;
    }
};

/** A context that the cache has met. Guarded, but for what does not change while the context lives.
 * Type-stable: where there are many, the record of one that was lost serves another. */
struct ContextState {
    uint64_t uid;
    const KernelBackend *backend;
    DeviceScope scope;  ///< no user context, no stream
    ContextState *next;

    calotype_entry *newest;   ///< entries, all phases but free and orphaned
    uint32_t n_orphans;       ///< entries
    uint32_t users;           ///< who work with it without the lock after it was lost
    uint32_t n_stream_holds;  ///< in the list, or being looked at
    LastingHold *lasting_holds;
    NrtState nrt;
    bool is_release_waiting;  ///< one release at a time
    bool closing;             ///< nothing is loaded or held any more
    bool lost;                ///< its identity has ended: no call of the driver any more
    bool failed;              ///< the driver refuses all calls: nothing is held, unloaded or copied
    bool over_limit;          ///< finalizes are to look for victims
    std::atomic<uint64_t> counters[n_counters];
    uint64_t base[n_counters];  ///< at the last reset

    bool has_driver() const {
        return !lost && !failed;
    }
};

struct Table {
    uint64_t mask;
    Table *older;  ///< which somebody may still be reading
    std::atomic<calotype_entry *> chains[1];
};

/** So many that were lost are remembered, with their counters. */
constexpr uint32_t few_contexts = 64;

/** Kinds of devices that a process may use. */
constexpr int most_backends = 8;

struct KernelCache {
    // What warm calls read, away from what others write while they load.
    alignas(cache_line_pair) std::atomic<Table *> table{nullptr};
    /** Advances with every load. The warm path stamps uses with it, so that the order of uses is
     * exact in a thread and, between threads, from one load to the next. */
    std::atomic<uint64_t> epoch{0};

    alignas(cache_line_pair) Mutex lock;
    /** Changes when flights, teardowns and awaited holds end. */
    FutexWord changed{0};

    // Guarded.
    const KernelBackend *backends[most_backends] = {};  ///< that have met contexts
    ContextState *contexts = nullptr;
    uint32_t n_contexts = 0;
    calotype_entry *free_entries = nullptr;
    uint32_t n_entries = 0;  ///< ever made
    uint64_t n_in_table = 0;
    calotype_limits limits = {};
    /** Set with the lock held; no thread is started and no library closed from then on. */
    std::atomic<bool> exiting{false};

    /** All entries there are, by index. */
    static constexpr uint32_t entries_a_slab = 64;
    calotype_entry *slabs[max_entries / entries_a_slab] = {};
    calotype_entry &entry(uint32_t index) const {
        return slabs[index / entries_a_slab][index % entries_a_slab];
    }
};
extern KernelCache kernel_cache;

// All that follows is called with the lock held.

calotype_uid uid_of(const calotype_entry &entry);
calotype_entry *find_entry(const KernelKey &key);
/** A busy entry of `owner` in table and context. Null: out of memory. */
calotype_entry *add_entry(const KernelKey &key, ContextState &context, ThreadBlock &owner);
/** Take that very entry out of table and context; it becomes orphaned if it is held, else free.
 * Threads that wait for a change are woken. */
void remove_entry(calotype_entry &entry);
/** Make an orphaned entry free if it has no holds. */
void reclaim_if_idle(calotype_entry &entry);
/** Change phase and watched bit, not the generation. */
void set_phase(calotype_entry &entry, Phase phase);
void set_watched(calotype_entry &entry, bool watched);
/** Put it first in its context's list. */
void make_newest(calotype_entry &entry);

ContextState *find_context(uint64_t uid);
/** Null: out of memory. */
ContextState *add_context(const KernelBackend &backend, const DeviceScope &scope);

/** Wake all who wait for `changed`. */
void notify_all();
/** Unlock, sleep until something changes or the deadline, lock. */
void wait_for_change(uint64_t deadline_ns);
/** The same for the sake of `what`, unless check_wait() is against it. */
calotype_status wait_for_others(ThreadBlock &me, const WaitNode &what, uint64_t deadline_ns);

/** Add to a context's counter (null: none) and to the process's. Needs no lock. */
void count_in(ContextState *context, Counter counter, uint64_t n = 1);

}  // namespace calotype::runtime
