// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host memory of pipelines.
//
// A block of libc's malloc with room in front: the aligned address that is handed out has the
// block's own address in the word before it, and the block's size before that. Vector code may read,
// never write, up to a vector before the first and after the last element; the block covers that on
// both sides.
//
// Pipelines ask for the same scratch memory in each call, and often in each iteration of a loop.
// libc gives large blocks back to the system when they are freed, which then clears each page again.
// So some blocks that are freed are kept for the next that ask, if possible for the thread that had
// them: their memory is in the cache of its processor.
#include "runtime/abi/memory.h"

#include <atomic>
#include <stdint.h>
#include <stdlib.h>

#include "runtime/host/data/atomic_flag.h"
#include "runtime/host/weak.h"

extern "C" __attribute__((weak)) void __asan_init();
extern "C" __attribute__((weak)) void __msan_init();
/** Of glibc: not 0 while the process has one thread. */
extern "C" __attribute__((weak)) char __libc_single_threaded;

using namespace calotype::runtime;

static Hook<calotype_malloc_t> malloc_hook(calotype_default_malloc);
static Hook<calotype_free_t> free_hook(calotype_default_free);

static constexpr size_t alignment = calotype_malloc_alignment;

namespace {

/** Threads in the order in which they first asked. */
uint32_t number_of_thread() {
    static std::atomic<uint32_t> threads{0};
    static thread_local uint32_t number = threads.fetch_add(1, std::memory_order_relaxed);
    return number;
}

bool is_only_thread() {
    return &__libc_single_threaded && __libc_single_threaded;
}

/** Blocks that are free, of sizes from smallest to largest. Nobody waits for the lock: who does not get
 * it asks libc, and so does the child of a process that forked while it was held.
 *
 * A loop that writes an image and asks for a block in each iteration should not wait until what it wrote has left the
 * processor. Locked instructions wait for that: a process with one thread takes the lock without them. So does a load
 * of two words at once that were stored one by one: addresses and sizes lie apart. */
template<size_t smallest, size_t largest, size_t most_bytes>
class alignas(64) KeptBlocks {
    static constexpr int most = 32;

    struct Block {
        void *address;
        size_t size;
    };
    /** Of each block, the oldest first. */
    void *addresses[most] = {};
    size_t sizes[most] = {};
    uint32_t threads[most] = {};  ///< that had it last
    int count = 0;
    size_t bytes = 0;
    AtomicFlag locked{false};

    bool try_lock() {
        if (is_only_thread()) {
            const bool is_held =
                locked.load(std::memory_order_relaxed);  // as by what a signal interrupted
            locked.store(true, std::memory_order_relaxed);
            std::atomic_signal_fence(std::memory_order_acquire);
            return !is_held;
        }
        return !locked.exchange(true, std::memory_order_acquire);
    }
    void unlock() {
        locked.store(false, std::memory_order_release);
    }

    Block remove(int i) {
        const Block block = {addresses[i], sizes[i]};
        for (count--; i < count; i++) {
            addresses[i] = addresses[i + 1];
            sizes[i] = sizes[i + 1];
            threads[i] = threads[i + 1];
        }
        bytes -= block.size;
        return block;
    }

    /** At most an eighth more. Where each iteration asks for one row more than the last one, most find
     * a block that fits. */
    static size_t rounded(size_t size) {
        size_t step = smallest / 8;
        while (step * 16 <= size) {
            step *= 2;
        }
        size = (size + step - 1) & ~(step - 1);
        return size < largest ? size : largest;
    }

    /** The block that the thread, or if it has none another, had last, of those that are as large, but not four times
     * as large; -1 if there is none. Not the smallest: where a loop asks for a little more in each iteration, each
     * size would have a block of its own, none of which were in the cache. */
    int find(size_t size) const {
        const uint32_t thread = number_of_thread();
        int last = -1;
        for (int i = count - 1; i >= 0; i--) {
            if (sizes[i] < size || sizes[i] / 4 >= size) {
                continue;
            }
            if (threads[i] == thread) {
                return i;
            }
            last = last < 0 ? i : last;
        }
        return last;
    }

public:
    static bool is_of_interest(size_t size) {
        // A sanitizer is to see what is freed.
        return size >= smallest && size <= largest && !__asan_init && !__msan_init;
    }

    /** A block that is kept; null if none fits. `*size` becomes that of the block, or the one to ask libc for. */
    void *take(size_t *size) {
        if (!is_of_interest(*size)) {
            return nullptr;
        }
        *size = rounded(*size);
        if (!try_lock()) {
            return nullptr;
        }
        const int best = find(*size);
        void *address = nullptr;
        if (best >= 0) {
            const Block block = remove(best);
            address = block.address;
            *size = block.size;
        }
        unlock();
        return address;
    }

    /** Keeps the block, in place of the oldest if need be, or frees it. */
    void give(void *address, size_t size) {
        if (!is_of_interest(size) || !try_lock()) {
            free(address);
            return;
        }
        Block old[most];
        int dropped = 0;
        while (count == most || bytes + size > most_bytes) {
            old[dropped++] = remove(0);
        }
        addresses[count] = address;
        sizes[count] = size;
        threads[count] = number_of_thread();
        count++;
        bytes += size;
        unlock();
        for (int i = 0; i < dropped; i++) {
            free(old[i].address);
        }
    }

    /** Whether there was something to free. */
    bool clear() {
        if (!try_lock()) {
            return false;
        }
        const bool was_there = count > 0;
        while (count > 0) {
            free(remove(count - 1).address);
        }
        unlock();
        return was_there;
    }
};

/** A row of an image, which libc has in lists that it sorts; larger than what libc has at hand for each thread. Threads
 * ask for them in each iteration, so up to this many have a place of their own. */
using Rows = KeptBlocks<(1 << 10) + 1, (16 << 10) - 1, 256 << 10>;
constexpr uint32_t places = 32;
Rows kept_rows[places];
KeptBlocks<16 << 10, 32 << 20, 64 << 20> kept;

Rows &rows_of_thread() {
    return kept_rows[number_of_thread() % places];
}

void *take_kept(size_t *size) {
    return Rows::is_of_interest(*size) ? rows_of_thread().take(size) : kept.take(size);
}

void give_kept(void *block, size_t size) {
    if (Rows::is_of_interest(size)) {
        rows_of_thread().give(block, size);
    } else {
        kept.give(block, size);
    }
}

bool clear_kept() {
    bool were_there = kept.clear();
    for (Rows &rows : kept_rows) {
        were_there = rows.clear() || were_there;
    }
    return were_there;
}

__attribute__((destructor)) void free_kept_blocks() {
    clear_kept();
}

}  // namespace

CALOTYPE_WEAK void *calotype_default_malloc(void *user_context, size_t size) {
    (void)user_context;
    // In front: up to one alignment lost to aligning, and a whole one to be read. Behind: one.
    constexpr size_t extra = 3 * alignment;
    if (size > PTRDIFF_MAX - extra) {
        return nullptr;
    }
    size += extra;
    void *block = take_kept(&size);
    if (!block) {
        block = malloc(size);
    }
    if (!block && clear_kept()) {
        block = malloc(size);
    }
    if (!block) {
        return nullptr;
    }
    uintptr_t address = reinterpret_cast<uintptr_t>(block) + 2 * alignment - 1;
    address &= ~uintptr_t(alignment - 1);
    void **aligned = reinterpret_cast<void **>(address);
    aligned[-1] = block;
    aligned[-2] = reinterpret_cast<void *>(size);
    return aligned;
}

CALOTYPE_WEAK void calotype_default_free(void *user_context, void *ptr) {
    (void)user_context;
    if (ptr) {
        void **aligned = static_cast<void **>(ptr);
        const size_t size = reinterpret_cast<size_t>(aligned[-2]);
        give_kept(aligned[-1], size);
    }
}

CALOTYPE_WEAK void *calotype_malloc(void *user_context, size_t size) {
    return malloc_hook.get()(user_context, size);
}

CALOTYPE_WEAK void calotype_free(void *user_context, void *ptr) {
    free_hook.get()(user_context, ptr);
}

CALOTYPE_WEAK calotype_malloc_t calotype_set_custom_malloc(calotype_malloc_t user_malloc) {
    return malloc_hook.set(user_malloc);
}

CALOTYPE_WEAK calotype_free_t calotype_set_custom_free(calotype_free_t user_free) {
    return free_hook.set(user_free);
}
