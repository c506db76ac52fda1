// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The per-thread state of the kernel cache: its counts of holds, what it waits for, its last
// error.
//
// Counts are striped by thread: a hold is counted in a cell that belongs to (thread, entry) and
// carries the thread's number, so that whoever gives it back counts in the same cell. Threads
// thus write different cache lines, and an entry's number of holds is the sum over all threads.
// The thread itself writes its counts with plain stores; others have a count of their own there.
// Blocks are never freed; that of a thread that ended serves a later one, counts and all.
#pragma once

#include <atomic>
#include <stddef.h>
#include <stdint.h>

#include "runtime/abi/kernels.h"

namespace calotype::runtime {

/** Processors fetch cache lines in pairs. */
constexpr size_t cache_line_pair = 128;

/** One thread's use of one entry. Padded so that an index is a shift. */
struct alignas(32) HoldCell {
    /** Holds less those that the thread gave back itself. Written by the thread alone, or on its
     * behalf while it waits. */
    std::atomic<uint32_t> taken;
    std::atomic<uint32_t> released_remotely;  ///< back by other threads
    std::atomic<uint64_t> hits;               ///< written by the thread alone
    std::atomic<uint64_t> last_use;           ///< the same; see KernelCache::epoch

    /** Below zero only after two threads have given the same hold back at the same time. */
    int32_t balance() const {
        // Read in this order a hold may be counted that has gone, but none that is there is missed.
        const uint32_t given = released_remotely.load(std::memory_order_acquire);
        return int32_t(taken.load(std::memory_order_acquire) - given);
    }
    void take() {
        taken.store(taken.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }
    /** False: there is none. By the thread itself. */
    bool give_back() {
        if (balance() <= 0) {
            return false;
        }
        taken.store(taken.load(std::memory_order_relaxed) - 1, std::memory_order_release);
        return true;
    }
    /** The same by another thread. */
    bool release_remotely() {
        uint32_t given = released_remotely.load(std::memory_order_acquire);
        do {
            if (int32_t(taken.load(std::memory_order_acquire) - given) <= 0) {
                return false;
            }
        } while (!released_remotely.compare_exchange_weak(
            given, given + 1, std::memory_order_seq_cst, std::memory_order_acquire));
        return true;
    }
    void count_hit(uint64_t use) {
        hits.store(hits.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        last_use.store(use, std::memory_order_relaxed);
    }
};

/** Something whose owner, or all threads that serve it, will let others go on. Guarded by the
 * cache's lock. */
struct WaitNode {
    struct ThreadBlock *owner;
};

struct FlightError;

struct alignas(cache_line_pair) ThreadBlock {
    static constexpr uint32_t cells_a_page = 256, n_pages = 2048;

    std::atomic<HoldCell *> pages[n_pages];
    uint32_t id;
    uint32_t sequence;  ///< of warm holds; orders uses within an epoch
    bool in_use;        ///< guarded by the cache's lock, as are these
    const WaitNode *waits_on;
    const WaitNode *serves;  ///< with other threads
    ThreadBlock *next;

    FlightError *error;  ///< last error, or null
    calotype_error_info info;

    /** Null if this thread has not used the entry's page yet. */
    HoldCell *cell(uint32_t entry_index) const {
        HoldCell *page = pages[entry_index / cells_a_page].load(std::memory_order_acquire);
        return page ? page + entry_index % cells_a_page : nullptr;
    }
};
constexpr uint32_t max_entries = ThreadBlock::cells_a_page * ThreadBlock::n_pages;

/** The calling thread's; null if it has none yet. */
extern constinit thread_local ThreadBlock *known_thread;
/** The calling thread's, made if need be. Null: out of memory. Takes the cache's lock. */
ThreadBlock *this_thread();
/** One that no thread has, for the holds that the runtime keeps itself: there they are counted
 * apart from those that a thread can give back. Its cells are written with the cache's lock held,
 * as it is here, but for what is given back elsewhere. Null: out of memory. */
ThreadBlock *runtime_block();
/** Null for a number that no thread has. */
ThreadBlock *thread_of(uint32_t id);

/** Make sure that cell() is not null. The cache's lock is held. False: out of memory. */
bool ensure_cell(ThreadBlock &thread, uint32_t entry_index);

/** What all threads have of an entry, or of several. */
struct EntryUse {
    uint64_t holds = 0, hits = 0, last = 0;

    void add(const HoldCell &cell) {
        const int32_t balance = cell.balance();
        const uint64_t use = cell.last_use.load(std::memory_order_relaxed);
        holds += balance > 0 ? uint64_t(balance) : 0;
        hits += cell.hits.load(std::memory_order_relaxed);
        last = use > last ? use : last;
    }
};
/** The cache's lock is held. */
EntryUse use_of(uint32_t entry_index);
uint64_t count_holds(uint32_t entry_index);
/** Of all entries together, each cell looked at once. The cache's lock is held. */
EntryUse use_of_all();
/** Set the counts of an entry without holds to 0, for its next use. The cache's lock is held. */
void clear_cells(uint32_t entry_index);

/** CALOTYPE_E_REENTRANT: `what` is this thread's own. CALOTYPE_E_DEADLOCK: waiting for it would
 * close a circle. The cache's lock is held. */
calotype_status check_wait(const ThreadBlock &me, const WaitNode &what);

/** In a child process: only the calling thread exists. The cache's lock is held. */
void forget_other_threads();
/** Threads that end from now on keep their blocks, since the library may have been closed when they
 * end. */
void end_thread_tracking();

}  // namespace calotype::runtime
