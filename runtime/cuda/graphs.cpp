// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recordings as graphs of the driver: a chain of kernels, made ready once, then launched at once.
//
// A module has a few slots, each with one graph. What a recording looks like (kernels, grids,
// blocks, shared memory, stream) finds its slot:
//
//     a slot with a graph of that look that nobody uses   only arguments may have changed
//     none, and the look was seen before                  make one, in an empty or long unused slot
//     none of that look, but one of the same kernels      shapes change too
//     none of these kernels, which were seen before       make one
//     else                                                no graph
//
// A look that comes once costs no graph, and looks that never come again do with one, whose kernels
// are given a shape each time. A slot belongs to one thread from the moment it takes it until the
// launch is queued: what is changed in a graph then does not concern launches that are queued
// already. The warm path takes no lock and writes to its slot alone.
//
// Whatever the driver refuses, the graph is given up and the launches are done without it.
#include "runtime/cuda/graphs.h"

#include "runtime/cuda/captures.h"
#include "runtime/host/timed_wait.h"
#include <new>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace calotype {
namespace runtime {
namespace cuda {

namespace {

constexpr int n_slots = 16;
/** How many looks are known to have been seen once. */
constexpr int n_seen = 64;
/** A graph that was not used while so many searches found nothing may go for another. */
constexpr uint64_t long_unused = 64;
/** After so many the driver is no longer asked for graphs of the module. */
constexpr uint32_t most_refusals = 8;
constexpr uint32_t most_args = 4096 / sizeof(uint64_t);

/** Closed: for good, its module is being unloaded. */
enum : uint32_t { slot_empty, slot_idle, slot_busy, slot_closed };

struct alignas(64) Slot {
    std::atomic<uint32_t> state;
    // Read by all, written by whoever has it.
    std::atomic<uint64_t> look, kernels, last_use;
    // Of whoever has it.
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode *nodes;
    RecordedLaunch *launches;  ///< as the graph has them
    uint64_t *values;
    uint32_t n;
};

/** LoadedModule::graphs. All zero at first. */
struct Graphs {
    Slot slots[n_slots];
    std::atomic<uint64_t> searches;  ///< that found no graph of the look
    std::atomic<uint32_t> refusals;  ///< of the driver
    Mutex lock;
    uint64_t seen[n_seen];  ///< with the lock held, as is the next
    uint32_t next_seen;
};

/** Of modules that were unloaded before they had any. */
constinit Graphs no_graphs = {{}, {0}, {most_refusals}, {}, {}, 0};
/** Unloading waits no longer for the slots that other threads have. */
constexpr uint32_t patience_ms = 2000;

/** Two hashes of a list. */
struct Look {
    uint64_t whole;    ///< of kernels, shapes and stream
    uint64_t kernels;  ///< of kernels alone
};

uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

Look look_of(const LaunchList &list, const void *stream) {
    Look look = {mix(list.n, reinterpret_cast<uintptr_t>(stream)), list.n};
    for (uint32_t i = 0; i < list.n; i++) {
        const RecordedLaunch &l = list.launches[i];
        look.kernels = mix(look.kernels, l.index);
        for (int d = 0; d < 3; d++) {
            look.whole = mix(look.whole, uint64_t(l.grid[d]) << 32 | l.block[d]);
        }
        look.whole = mix(look.whole, l.dynamic_shared_bytes);
    }
    look.whole = mix(look.whole, look.kernels);
    return look;
}

uint32_t n_values(const RecordedLaunch *launches, uint32_t n) {
    return n == 0 ? 0 : launches[n - 1].first_value + launches[n - 1].kernel->n_args;
}

bool take(Slot &slot, uint32_t from) {
    return slot.state.load(std::memory_order_relaxed) == from &&
           slot.state.compare_exchange_strong(from, slot_busy, std::memory_order_acquire,
                                              std::memory_order_relaxed);
}

void give_back(Slot &slot) {
    slot.state.store(slot_idle, std::memory_order_release);
}

bool has_kernels(const Slot &slot, const LaunchList &list) {
    bool same = slot.n == list.n;
    for (uint32_t i = 0; same && i < list.n; i++) {
        same = slot.launches[i].function == list.launches[i].function;
    }
    return same;
}

// ---- one graph -------------------------------------------------------------------------------

void empty(Slot &slot, bool has_driver) {
    if (has_driver && slot.exec) {
        driver().cuGraphExecDestroy(slot.exec);
    }
    if (has_driver && slot.graph) {
        driver().cuGraphDestroy(slot.graph);
    }
    free(slot.nodes);
    free(slot.launches);
    free(slot.values);
    slot.graph = nullptr;
    slot.exec = nullptr;
    slot.nodes = nullptr;
    slot.launches = nullptr;
    slot.values = nullptr;
    slot.n = 0;
    slot.look.store(0, std::memory_order_relaxed);
    slot.kernels.store(0, std::memory_order_relaxed);
}

CUDA_KERNEL_NODE_PARAMS params_of(const LaunchList &list, const RecordedLaunch &l, void **args) {
    for (uint32_t a = 0; a < l.kernel->n_args; a++) {
        args[a] = list.values + l.first_value + a;
    }
    return {static_cast<CUfunction>(l.function),
            l.grid[0],
            l.grid[1],
            l.grid[2],
            l.block[0],
            l.block[1],
            l.block[2],
            l.dynamic_shared_bytes,
            args,
            nullptr};
}

template<typename T>
T *copy_of(const T *from, size_t n) {
    T *copy = static_cast<T *>(malloc(n * sizeof(T) + 1));
    if (copy && n > 0) {
        memcpy(copy, from, n * sizeof(T));
    }
    return copy;
}

/** A graph in an empty slot; what is there after a failure goes with empty(). */
bool make(Slot &slot, const LaunchList &list) {
    const Driver &d = driver();
    slot.n = list.n;
    slot.nodes = static_cast<CUgraphNode *>(calloc(list.n, sizeof(CUgraphNode)));
    slot.launches = copy_of(list.launches, list.n);
    slot.values = copy_of(list.values, n_values(list.launches, list.n));
    if (!slot.nodes || !slot.launches || !slot.values ||
        d.cuGraphCreate(&slot.graph, 0) != CUDA_SUCCESS) {
        return false;
    }
    for (uint32_t i = 0; i < list.n; i++) {
        void *args[most_args];
        const CUDA_KERNEL_NODE_PARAMS params = params_of(list, list.launches[i], args);
        const CUgraphNode *before = i > 0 ? &slot.nodes[i - 1] : nullptr;
        if (d.cuGraphAddKernelNode(&slot.nodes[i], slot.graph, before, before ? 1 : 0, &params) !=
            CUDA_SUCCESS) {
            return false;
        }
    }
    return d.cuGraphInstantiateWithFlags(&slot.exec, slot.graph, 0) == CUDA_SUCCESS;
}

/** A list in which no kernel has an argument may have no memory for values. */
bool is_equal(const LaunchList &list, const RecordedLaunch &wanted, const Slot &slot,
              const RecordedLaunch &has) {
    const uint32_t n = has.kernel->n_args;
    return memcmp(wanted.grid, has.grid, sizeof has.grid) == 0 &&
           memcmp(wanted.block, has.block, sizeof has.block) == 0 &&
           wanted.dynamic_shared_bytes == has.dynamic_shared_bytes &&
           (n == 0 || memcmp(list.values + wanted.first_value, slot.values + has.first_value,
                             n * sizeof(uint64_t)) == 0);
}

/** Give the graph's kernels what is not as it was. */
bool update(Slot &slot, const LaunchList &list, uint32_t *updated) {
    for (uint32_t i = 0; i < list.n; i++) {
        const RecordedLaunch &wanted = list.launches[i];
        RecordedLaunch &has = slot.launches[i];
        if (is_equal(list, wanted, slot, has)) {
            continue;
        }
        void *args[most_args];
        const CUDA_KERNEL_NODE_PARAMS params = params_of(list, wanted, args);
        if (driver().cuGraphExecKernelNodeSetParams(slot.exec, slot.nodes[i], &params) !=
            CUDA_SUCCESS) {
            return false;
        }
        for (uint32_t a = 0; a < has.kernel->n_args; a++) {
            slot.values[has.first_value + a] = list.values[wanted.first_value + a];
        }
        has = wanted;
        ++*updated;
    }
    return true;
}

// ---- which graph -----------------------------------------------------------------------------

/** An idle slot whose graph has that hash, and the kernels of the list. */
Slot *take_of(Graphs &graphs, std::atomic<uint64_t> Slot::*hash, uint64_t wanted,
              const LaunchList &list) {
    for (Slot &slot : graphs.slots) {
        if ((slot.*hash).load(std::memory_order_relaxed) == wanted && take(slot, slot_idle)) {
            if (has_kernels(slot, list)) {
                return &slot;
            }
            give_back(slot);
        }
    }
    return nullptr;
}

void give_up(Graphs &graphs, Slot &slot) {
    graphs.refusals.fetch_add(1, std::memory_order_relaxed);
    empty(slot, true);
    slot.state.store(slot_empty, std::memory_order_release);
}

/** For a new graph: an empty slot, or one that may go. */
Slot *take_room(Graphs &graphs, uint64_t now) {
    Slot *oldest = nullptr;
    for (Slot &slot : graphs.slots) {
        if (take(slot, slot_empty)) {
            return &slot;
        }
        const uint64_t last_use = slot.last_use.load(std::memory_order_relaxed);
        const uint64_t least = oldest ? oldest->last_use.load(std::memory_order_relaxed) : now;
        oldest = last_use + long_unused < now && last_use <= least ? &slot : oldest;
    }
    if (!oldest || !take(*oldest, slot_idle)) {
        return nullptr;
    }
    empty(*oldest, true);
    return oldest;
}

/** Whether a hash was seen before; now it has been. With the lock held. */
bool was_seen(Graphs &graphs, uint64_t hash) {
    for (const uint64_t seen : graphs.seen) {
        if (seen == hash) {
            return true;
        }
    }
    graphs.seen[graphs.next_seen++ % n_seen] = hash;
    return false;
}

/** A slot when none of the look is idle: with another graph of the kernels, or without one. */
Slot *search(Graphs &graphs, const Look &look, const LaunchList &list) {
    const uint64_t now = graphs.searches.fetch_add(1, std::memory_order_relaxed) + 1;
    bool comes_again = false, kernels_do = false;
    {
        LockGuard guard(graphs.lock);
        comes_again = was_seen(graphs, look.whole);
        kernels_do = was_seen(graphs, look.kernels);
    }
    Slot *slot = comes_again ? take_room(graphs, now) : nullptr;
    slot = slot ? slot : take_of(graphs, &Slot::kernels, look.kernels, list);
    return slot || !kernels_do ? slot : take_room(graphs, now);
}

Graphs *graphs_of(std::atomic<void *> *place) {
    void *there = place->load(std::memory_order_acquire);
    if (!there) {
        void *memory = nullptr;
        if (posix_memalign(&memory, alignof(Graphs), sizeof(Graphs)) != 0) {
            return nullptr;
        }
        Graphs *made = new (memory) Graphs{};
        if (place->compare_exchange_strong(there, made, std::memory_order_acq_rel)) {
            return made;
        }
        free(memory);
    }
    return static_cast<Graphs *>(there);
}

/** A graph that has all of the list; null: none. */
Slot *find(Graphs &graphs, const LaunchList &list, const Look &look, ReplayCounts *counts) {
    Slot *slot = take_of(graphs, &Slot::look, look.whole, list);
    slot = slot ? slot : search(graphs, look, list);
    if (!slot) {
        return nullptr;
    }
    const bool is_new = !slot->exec;
    if (is_new ? make(*slot, list) : update(*slot, list, &counts->updated)) {
        counts->made += is_new;
        return slot;
    }
    give_up(graphs, *slot);
    return nullptr;
}

}  // namespace

bool can_replay() {
    return driver().has_graphs;
}

bool replay(const DeviceScope &scope, std::atomic<void *> *place, const LaunchList &list,
            ReplayCounts *counts) {
    Graphs *graphs = graphs_of(place);
    if (!graphs || graphs->refusals.load(std::memory_order_relaxed) >= most_refusals ||
        is_capturing(scope, nullptr) || enter(scope) != CALOTYPE_OK) {
        return false;
    }
    note_stream(context_info(scope), static_cast<CUstream>(scope.stream));
    const Look look = look_of(list, scope.stream);
    Slot *slot = find(*graphs, list, look, counts);
    bool done = false;
    if (slot) {
        done =
            driver().cuGraphLaunch(slot->exec, static_cast<CUstream>(scope.stream)) == CUDA_SUCCESS;
        if (done) {
            slot->look.store(look.whole, std::memory_order_relaxed);
            slot->kernels.store(look.kernels, std::memory_order_relaxed);
            slot->last_use.store(graphs->searches.load(std::memory_order_relaxed),
                                 std::memory_order_relaxed);
            give_back(*slot);
        } else {
            give_up(*graphs, *slot);
        }
    }
    leave(scope);
    return done;
}

void close_graphs(std::atomic<void *> *place, bool has_driver) {
    void *there = nullptr;
    if (place->compare_exchange_strong(there, &no_graphs, std::memory_order_acq_rel)) {
        return;  // and none will be made
    }
    Graphs &graphs = *static_cast<Graphs *>(there);
    graphs.refusals.store(most_refusals, std::memory_order_relaxed);
    const uint64_t deadline = deadline_after_ms(patience_ms);
    for (Slot &slot : graphs.slots) {
        // Another thread has it for a few calls of the driver, which answers if it is there.
        bool is_mine = false;
        while (!(is_mine = take(slot, slot_empty) || take(slot, slot_idle)) && has_driver &&
               now_ns() < deadline) {
            usleep(100);
        }
        if (is_mine) {
            empty(slot, has_driver);
            slot.state.store(slot_closed, std::memory_order_relaxed);
        }
    }
}

void free_graphs(void *graphs) {
    if (graphs == &no_graphs) {
        return;
    }
    for (Slot &slot : static_cast<Graphs *>(graphs)->slots) {
        empty(slot, false);
    }
    free(graphs);
}

}  // namespace cuda
}  // namespace runtime
}  // namespace calotype
