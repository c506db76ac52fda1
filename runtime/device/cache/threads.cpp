// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/cache/threads.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device/cache/errors.h"
#include "runtime/device/cache/fences.h"
#include "runtime/device/cache/table.h"
#include "runtime/host/data/list.h"

namespace calotype::runtime {

constinit thread_local ThreadBlock *known_thread = nullptr;

namespace {

/** Blocks by number. Of those that no thread has needed yet this is address space alone. */
constexpr uint32_t most_blocks = 1 << 18;
constinit std::atomic<ThreadBlock *> directory[most_blocks] = {};
ThreadBlock *blocks = nullptr;
uint32_t n_blocks = 0;
ThreadBlock *keeper = nullptr;

/** Tells when a thread ends. */
pthread_key_t exit_key;
bool has_exit_key = false;

/** Let another thread have it, which has made no error yet. The lock is held. */
void give_up(ThreadBlock &block) {
    block.in_use = false;
    drop_error(block.error);
    block.error = nullptr;
    block.info = {};
}

void thread_ends(void *block) {
    LockGuard guard(kernel_cache.lock);
    give_up(*static_cast<ThreadBlock *>(block));
    known_thread = nullptr;
}

/** Memory of zeros that shares no pair of cache lines with any other. */
void *allocate_zeroed(size_t size) {
    void *memory = nullptr;
    size = (size + cache_line_pair - 1) / cache_line_pair * cache_line_pair;
    return posix_memalign(&memory, cache_line_pair, size) == 0 ? memset(memory, 0, size) : nullptr;
}

ThreadBlock *new_block() {
    void *memory = n_blocks < most_blocks ? allocate_zeroed(sizeof(ThreadBlock)) : nullptr;
    ThreadBlock *block = static_cast<ThreadBlock *>(memory);
    if (!block) {
        return nullptr;
    }
    if (n_blocks == 0) {
        choose_fences(true);
    }
    block->id = n_blocks++;
    directory[block->id].store(block, std::memory_order_release);
    push(blocks, block);
    return block;
}

ThreadBlock *unused_block() {
    ThreadBlock *unused = find_in(blocks, [](const ThreadBlock &b) { return !b.in_use; });
    return unused ? unused : new_block();
}

}  // namespace

ThreadBlock *this_thread() {
    if (known_thread) {
        return known_thread;
    }
    LockGuard guard(kernel_cache.lock);
    ThreadBlock *block = unused_block();
    if (block) {
        block->in_use = true;
        block->waits_on = nullptr;
        if (!has_exit_key) {
            has_exit_key = pthread_key_create(&exit_key, thread_ends) == 0;
        }
        if (has_exit_key) {
            pthread_setspecific(exit_key, block);
        }
        known_thread = block;
    }
    return block;
}

ThreadBlock *runtime_block() {
    if (!keeper) {
        keeper = new_block();
        if (keeper) {
            keeper->in_use = true;
        }
    }
    return keeper;
}

// Also where the library is closed without having loaded anything, which has no exit handler then.
__attribute__((destructor)) void end_thread_tracking() {
    LockGuard guard(kernel_cache.lock);
    if (has_exit_key) {
        pthread_key_delete(exit_key);
        has_exit_key = false;
    }
}

ThreadBlock *thread_of(uint32_t id) {
    return id < most_blocks ? directory[id].load(std::memory_order_acquire) : nullptr;
}

bool ensure_cell(ThreadBlock &thread, uint32_t entry_index) {
    std::atomic<HoldCell *> &page = thread.pages[entry_index / ThreadBlock::cells_a_page];
    if (page.load(std::memory_order_relaxed)) {
        return true;
    }
    void *memory = allocate_zeroed(ThreadBlock::cells_a_page * sizeof(HoldCell));
    if (!memory) {
        return false;
    }
    page.store(static_cast<HoldCell *>(memory), std::memory_order_release);
    return true;
}

EntryUse use_of(uint32_t entry_index) {
    EntryUse sum;
    for (const ThreadBlock *b = blocks; b; b = b->next) {
        if (const HoldCell *cell = b->cell(entry_index)) {
            sum.add(*cell);
        }
    }
    return sum;
}

uint64_t count_holds(uint32_t entry_index) {
    return use_of(entry_index).holds;
}

EntryUse use_of_all() {
    EntryUse sum;
    for (const ThreadBlock *b = blocks; b; b = b->next) {
        for (uint32_t i = 0; i < kernel_cache.n_entries; i += ThreadBlock::cells_a_page) {
            const HoldCell *page = b->cell(i);
            for (uint32_t n = 0; page && n < ThreadBlock::cells_a_page; n++) {
                sum.add(page[n]);
            }
        }
    }
    return sum;
}

void clear_cells(uint32_t entry_index) {
    for (ThreadBlock *b = blocks; b; b = b->next) {
        if (HoldCell *cell = b->cell(entry_index)) {
            cell->hits.store(0, std::memory_order_relaxed);
            cell->last_use.store(0, std::memory_order_relaxed);
        }
    }
}

// Ends, since no thread waits that would have closed a circle.
static bool would_deadlock(const ThreadBlock &me, const WaitNode &what) {
    for (const ThreadBlock *b = blocks; b; b = b->next) {
        if (b == what.owner || b->serves == &what) {
            if (b == &me || (b->waits_on && would_deadlock(me, *b->waits_on))) {
                return true;
            }
        }
    }
    return false;
}

calotype_status check_wait(const ThreadBlock &me, const WaitNode &what) {
    return what.owner == &me          ? CALOTYPE_E_REENTRANT
           : would_deadlock(me, what) ? CALOTYPE_E_DEADLOCK
                                      : CALOTYPE_OK;
}

void forget_other_threads() {
    for (ThreadBlock *b = blocks; b; b = b->next) {
        b->waits_on = b->serves = nullptr;
        if (b != known_thread && b != keeper) {
            give_up(*b);
        }
    }
}

}  // namespace calotype::runtime
