// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recordings as graphs of the driver: a chain of kernels, made ready once, then launched at once.
//
// A module has a few graphs. What a recording looks like (kernels, grids, blocks, shared memory,
// stream) is the key of its graph:
//
//     a graph of that key that nobody uses              only arguments may have changed
//     none, and the key was seen before                 make one, in place of a long unused one
//     none of that key, but one of the same kernels     shapes change too
//     none of these kernels, which were seen before     make one
//     else                                              no graph
//
// A key that comes once costs no graph, and keys that never come again do with one graph, whose
// kernels are given a shape each time. A graph is chosen under the lock of the module's graphs and
// belongs to one thread from then on until its launch is queued: what is changed in a graph then
// does not concern launches that are queued already. The driver is called without the lock.
//
// Whatever the driver refuses, the graph is given up and the launches are done without it.
#include "runtime/cuda/kernels.h"

#include "runtime/cuda/captures.h"
#include "runtime/host/timed_wait.h"
#include <new>
#include <stdlib.h>
#include <string.h>

namespace calotype::runtime::cuda {

namespace {

constexpr int most_graphs = 16;
/** How many keys are known to have been seen once. */
constexpr int n_seen = 64;
/** A graph that was not used while so many searches found nothing may go for another. */
constexpr uint64_t long_unused = 64;
/** After so many the driver is no longer asked for graphs of the module. */
constexpr uint32_t most_refusals = 8;
constexpr uint32_t most_args = 4096 / sizeof(uint64_t);
/** Unloading waits no longer for the graphs that other threads use. */
constexpr uint32_t patience_ms = 2000;

/** Two hashes of a list. */
struct GraphKey {
    uint64_t whole;    ///< of kernels, shapes and stream
    uint64_t kernels;  ///< of kernels alone
};

struct ReplayGraph {
    // With the lock held.
    bool is_used;  ///< by a thread
    GraphKey key;
    uint64_t last_use;
    // Of that thread while it is used.
    CUgraph graph;
    CUgraphExec exec;  ///< null: there is none
    CUgraphNode *nodes;
    RecordedLaunch *launches;  ///< as the graph has them
    uint64_t *values;
    uint32_t n;
};

/** LoadedModule::graphs. */
struct Graphs {
    Mutex lock;
    bool is_closed;     ///< the module is being unloaded
    uint32_t refusals;  ///< of the driver
    uint64_t searches;  ///< that found no graph of the key
    ReplayGraph graphs[most_graphs];
    uint64_t seen[n_seen];
    uint32_t next_seen;
};

/** Of modules that were unloaded before they had any. */
constinit Graphs no_graphs = {{}, true, 0, 0, {}, {}, 0};

uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

GraphKey key_of(const LaunchList &list, const void *stream) {
    GraphKey key = {mix(list.n, reinterpret_cast<uintptr_t>(stream)), list.n};
    for (uint32_t i = 0; i < list.n; i++) {
        const RecordedLaunch &l = list.launches[i];
        key.kernels = mix(key.kernels, l.index);
        for (int d = 0; d < 3; d++) {
            key.whole = mix(key.whole, uint64_t(l.grid[d]) << 32 | l.block[d]);
        }
        key.whole = mix(key.whole, l.dynamic_shared_bytes);
    }
    key.whole = mix(key.whole, key.kernels);
    return key;
}

uint32_t n_values(const RecordedLaunch *launches, uint32_t n) {
    return n == 0 ? 0 : launches[n - 1].first_value + launches[n - 1].kernel->n_args;
}

bool has_kernels(const ReplayGraph &graph, const LaunchList &list) {
    bool same = graph.n == list.n;
    for (uint32_t i = 0; same && i < list.n; i++) {
        same = graph.launches[i].function == list.launches[i].function;
    }
    return same;
}

// ---- one graph -------------------------------------------------------------------------------

/** What belongs to its user goes. */
void clear(ReplayGraph &graph, bool has_driver) {
    if (has_driver && graph.exec) {
        driver().cuGraphExecDestroy(graph.exec);
    }
    if (has_driver && graph.graph) {
        driver().cuGraphDestroy(graph.graph);
    }
    free(graph.nodes);
    free(graph.launches);
    free(graph.values);
    graph.graph = nullptr;
    graph.exec = nullptr;
    graph.nodes = nullptr;
    graph.launches = nullptr;
    graph.values = nullptr;
    graph.n = 0;
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

/** Of what is clear; what is there after a failure goes with clear(). */
bool make(ReplayGraph &graph, const LaunchList &list) {
    const Driver &d = driver();
    graph.n = list.n;
    graph.nodes = static_cast<CUgraphNode *>(calloc(list.n, sizeof(CUgraphNode)));
    graph.launches = copy_of(list.launches, list.n);
    graph.values = copy_of(list.values, n_values(list.launches, list.n));
    if (!graph.nodes || !graph.launches || !graph.values ||
        d.cuGraphCreate(&graph.graph, 0) != CUDA_SUCCESS) {
        return false;
    }
    for (uint32_t i = 0; i < list.n; i++) {
        void *args[most_args];
        const CUDA_KERNEL_NODE_PARAMS params = params_of(list, list.launches[i], args);
        const CUgraphNode *before = i > 0 ? &graph.nodes[i - 1] : nullptr;
        if (d.cuGraphAddKernelNode(&graph.nodes[i], graph.graph, before, before ? 1 : 0, &params) !=
            CUDA_SUCCESS) {
            return false;
        }
    }
    return d.cuGraphInstantiateWithFlags(&graph.exec, graph.graph, 0) == CUDA_SUCCESS;
}

/** A list in which no kernel has an argument may have no memory for values. */
bool is_equal(const LaunchList &list, const RecordedLaunch &wanted, const ReplayGraph &graph,
              const RecordedLaunch &has) {
    const uint32_t n = has.kernel->n_args;
    return memcmp(wanted.grid, has.grid, sizeof has.grid) == 0 &&
           memcmp(wanted.block, has.block, sizeof has.block) == 0 &&
           wanted.dynamic_shared_bytes == has.dynamic_shared_bytes &&
           (n == 0 || memcmp(list.values + wanted.first_value, graph.values + has.first_value,
                             n * sizeof(uint64_t)) == 0);
}

/** Give the graph's kernels what is not as it was. */
bool update(ReplayGraph &graph, const LaunchList &list, uint32_t *updated) {
    for (uint32_t i = 0; i < list.n; i++) {
        const RecordedLaunch &wanted = list.launches[i];
        RecordedLaunch &has = graph.launches[i];
        if (is_equal(list, wanted, graph, has)) {
            continue;
        }
        void *args[most_args];
        const CUDA_KERNEL_NODE_PARAMS params = params_of(list, wanted, args);
        if (driver().cuGraphExecKernelNodeSetParams(graph.exec, graph.nodes[i], &params) !=
            CUDA_SUCCESS) {
            return false;
        }
        for (uint32_t a = 0; a < has.kernel->n_args; a++) {
            graph.values[has.first_value + a] = list.values[wanted.first_value + a];
        }
        has = wanted;
        ++*updated;
    }
    return true;
}

// ---- which graph -----------------------------------------------------------------------------

// With the lock held.

/** One that nobody uses, with that hash in its key and the kernels of the list. */
ReplayGraph *find(Graphs &graphs, uint64_t GraphKey::*hash, uint64_t wanted,
                  const LaunchList &list) {
    for (ReplayGraph &graph : graphs.graphs) {
        if (!graph.is_used && graph.exec && graph.key.*hash == wanted && has_kernels(graph, list)) {
            return &graph;
        }
    }
    return nullptr;
}

/** For a new graph: a free place, or that of one that may go. */
ReplayGraph *find_room(Graphs &graphs) {
    ReplayGraph *oldest = nullptr;
    for (ReplayGraph &graph : graphs.graphs) {
        const bool may_go =
            !graph.is_used && (!graph.exec || graph.last_use + long_unused < graphs.searches);
        if (may_go && (!oldest || graph.last_use < oldest->last_use)) {
            oldest = &graph;
        }
    }
    return oldest;
}

/** Whether a hash was seen before; now it has been. */
bool was_seen(Graphs &graphs, uint64_t hash) {
    for (const uint64_t seen : graphs.seen) {
        if (seen == hash) {
            return true;
        }
    }
    graphs.seen[graphs.next_seen++ % n_seen] = hash;
    return false;
}

/** What the list is to be launched with; null: nothing. *is_new: it is yet to be made. */
ReplayGraph *choose(Graphs &graphs, const GraphKey &key, const LaunchList &list, bool *is_new) {
    ReplayGraph *graph = find(graphs, &GraphKey::whole, key.whole, list);
    *is_new = false;
    if (graph) {
        return graph;
    }
    graphs.searches++;
    const bool comes_again = was_seen(graphs, key.whole);
    const bool kernels_do = was_seen(graphs, key.kernels);
    ReplayGraph *room = comes_again || kernels_do ? find_room(graphs) : nullptr;
    graph = comes_again && room ? nullptr : find(graphs, &GraphKey::kernels, key.kernels, list);
    *is_new = !graph && room;
    return graph ? graph : room;
}

// Without the lock.

/** A graph that is the caller's until give_back(). */
ReplayGraph *take(Graphs &graphs, const GraphKey &key, const LaunchList &list, bool *is_new) {
    LockGuard guard(graphs.lock);
    ReplayGraph *graph = graphs.is_closed || graphs.refusals >= most_refusals
                             ? nullptr
                             : choose(graphs, key, list, is_new);
    if (graph) {
        graph->is_used = true;
    }
    return graph;
}

void give_back(Graphs &graphs, ReplayGraph &graph, const GraphKey &key, bool is_done) {
    if (!is_done) {
        clear(graph, true);
    }
    LockGuard guard(graphs.lock);
    graph.key = is_done ? key : GraphKey{};
    graph.last_use = is_done ? graphs.searches : 0;
    graph.is_used = false;
    graphs.refusals += !is_done;
}

Graphs *graphs_of(std::atomic<void *> *place) {
    void *there = place->load(std::memory_order_acquire);
    if (!there) {
        void *memory = calloc(1, sizeof(Graphs));
        Graphs *made = memory ? new (memory) Graphs{} : nullptr;
        if (!made || place->compare_exchange_strong(there, made, std::memory_order_acq_rel)) {
            return made;
        }
        free(made);
    }
    return static_cast<Graphs *>(there);
}

bool launch(ReplayGraph &graph, bool is_new, const LaunchList &list, CUstream stream,
            ReplayCounts *counts) {
    if (is_new) {
        clear(graph, true);
    }
    if (is_new ? !make(graph, list) : !update(graph, list, &counts->updated)) {
        return false;
    }
    counts->made += is_new;
    return driver().cuGraphLaunch(graph.exec, stream) == CUDA_SUCCESS;
}

}  // namespace

bool can_replay() {
    return driver().has_graphs;
}

bool replay(const DeviceScope &scope, std::atomic<void *> *place, const LaunchList &list,
            ReplayCounts *counts) {
    Graphs *graphs = graphs_of(place);
    if (!graphs || is_capturing(scope, nullptr) || enter(scope) != CALOTYPE_OK) {
        return false;
    }
    const auto stream = static_cast<CUstream>(scope.stream);
    note_stream(context_info(scope), stream);
    const GraphKey key = key_of(list, stream);
    bool is_new = false, is_done = false;
    if (ReplayGraph *graph = take(*graphs, key, list, &is_new)) {
        is_done = launch(*graph, is_new, list, stream, counts);
        give_back(*graphs, *graph, key, is_done);
    }
    leave(scope);
    return is_done;
}

/** Whether a thread is at one of them: for a few calls of the driver. */
static bool are_used(Graphs &graphs) {
    LockGuard guard(graphs.lock);
    bool found = false;
    for (const ReplayGraph &graph : graphs.graphs) {
        found |= graph.is_used;
    }
    return found;
}

void close_graphs(std::atomic<void *> *place, bool has_driver) {
    void *there = nullptr;
    if (place->compare_exchange_strong(there, &no_graphs, std::memory_order_acq_rel)) {
        return;  // and none will be made
    }
    Graphs &graphs = *static_cast<Graphs *>(there);
    {
        LockGuard guard(graphs.lock);
        graphs.is_closed = true;
    }
    poll_until(deadline_after_ms(patience_ms), [&] { return !has_driver || !are_used(graphs); });
    for (ReplayGraph &graph : graphs.graphs) {
        LockGuard guard(graphs.lock);
        if (!graph.is_used) {
            graph.is_used = true;
            const Unlocked unlocked(graphs.lock);
            clear(graph, has_driver);
        }
    }
}

void free_graphs(void *graphs) {
    if (graphs == &no_graphs) {
        return;
    }
    for (ReplayGraph &graph : static_cast<Graphs *>(graphs)->graphs) {
        clear(graph, false);
    }
    free(graphs);
}

}  // namespace calotype::runtime::cuda
