// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random trees of parallel loops, tasks and rings of producers and consumers, nested in each other:
// everything runs exactly once and nothing hangs; with a failure planted, nothing hangs either.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "runtime/runtime.h"
#include "runtime/with_threads.h"

namespace {

/** What to run: `extent` times each child, in the way that `kind` says. */
struct Node {
    enum Kind { Leaf, Loop, Tasks, Ring } kind = Leaf;
    int extent = 0;
    std::vector<std::unique_ptr<Node>> children;

    int64_t leaves() const {
        if (kind == Leaf) {
            return 1;
        }
        int64_t sum = 0;
        for (const auto &child : children) {
            sum += child->leaves();
        }
        return sum * extent;
    }
};

std::unique_ptr<Node> make_tree(std::mt19937 &rng, int depth) {
    auto pick = [&](int low, int high) {
        return std::uniform_int_distribution<int>(low, high)(rng);
    };
    auto node = std::make_unique<Node>();
    node->kind = depth == 0 ? Node::Leaf : Node::Kind(pick(0, 3));
    node->extent = pick(1, 5);
    const int children = node->kind == Node::Leaf    ? 0
                         : node->kind == Node::Loop  ? 1
                         : node->kind == Node::Tasks ? pick(1, 3)
                                                     : 2;
    for (int i = 0; i < children; i++) {
        node->children.push_back(make_tree(rng, depth - 1));
    }
    return node;
}

/** One run of a tree. */
struct TreeRun {
    std::atomic<int64_t> leaves{0};
    int64_t fail_at = -1;  ///< the leaf that fails
};

constexpr int failure = -42;

int run(const Node &node, TreeRun &state);

/** A child of a node, its iterations, and the semaphores between the two of a ring. */
struct Part {
    const Node *node;
    TreeRun *state;
    calotype_semaphore_t *release = nullptr;

    static int iterate(void *, int min, int extent, uint8_t *closure, void *) {
        const Part &part = *reinterpret_cast<Part *>(closure);
        for (int i = min; i < min + extent; i++) {
            if (int code = run(*part.node, *part.state)) {
                return code;
            }
            if (part.release) {
                calotype_semaphore_release(part.release, 1);
            }
        }
        return 0;
    }
    static int iterate_loop(void *, int, uint8_t *closure) {
        return iterate(nullptr, 0, 1, closure, nullptr);
    }
    calotype_parallel_task_t task(int extent, bool serial, calotype_semaphore_acquire_t *acquire) {
        calotype_parallel_task_t t = {};
        t.fn = iterate;
        t.closure = reinterpret_cast<uint8_t *>(this);
        t.name = "part";
        t.extent = extent;
        t.serial = serial;
        t.semaphores = acquire;
        t.num_semaphores = acquire ? 1 : 0;
        t.min_threads = 1;
        return t;
    }
};

int run_tasks(const Node &node, TreeRun &state) {
    std::vector<Part> parts;
    for (const auto &child : node.children) {
        parts.push_back({child.get(), &state});
    }
    std::vector<calotype_parallel_task_t> tasks;
    for (size_t i = 0; i < parts.size(); i++) {
        tasks.push_back(parts[i].task(node.extent, i % 2 == 0, nullptr));
    }
    return calotype_do_parallel_tasks(nullptr, int(tasks.size()), tasks.data(), nullptr);
}

int run_ring(const Node &node, TreeRun &state) {
    calotype_semaphore_t room, ready;
    calotype_semaphore_init(&room, 2);
    calotype_semaphore_init(&ready, 0);
    calotype_semaphore_acquire_t take_room = {&room, 1}, take_ready = {&ready, 1};
    Part producer{node.children[0].get(), &state, &ready};
    Part consumer{node.children[1].get(), &state, &room};
    calotype_parallel_task_t tasks[] = {producer.task(node.extent, true, &take_room),
                                        consumer.task(node.extent, true, &take_ready)};
    return calotype_do_parallel_tasks(nullptr, 2, tasks, nullptr);
}

int run(const Node &node, TreeRun &state) {
    switch (node.kind) {
    case Node::Leaf:
        return state.leaves++ == state.fail_at ? failure : 0;
    case Node::Loop: {
        Part part{node.children[0].get(), &state};
        return calotype_do_par_for(nullptr, Part::iterate_loop, 0, node.extent,
                                   reinterpret_cast<uint8_t *>(&part));
    }
    case Node::Tasks:
        return run_tasks(node, state);
    case Node::Ring:
        return run_ring(node, state);
    }
    return 0;
}

class ParallelTrees : public calotype_test::WithThreads {};

INSTANTIATE_TEST_SUITE_P(Threads, ParallelTrees, ::testing::Values(1, 2, 3, 5, 16));

TEST_P(ParallelTrees, RunEveryLeafOnce) {
    for (unsigned seed = 0; seed < 60; seed++) {
        std::mt19937 rng(seed);
        const auto tree = make_tree(rng, 4);
        TreeRun state;
        ASSERT_EQ(0, run(*tree, state)) << seed;
        ASSERT_EQ(tree->leaves(), state.leaves) << seed;
    }
}

TEST_P(ParallelTrees, EndAfterAFailure) {
    for (unsigned seed = 0; seed < 60; seed++) {
        std::mt19937 rng(seed);
        const auto tree = make_tree(rng, 4);
        TreeRun state;
        state.fail_at = int64_t(rng() % uint64_t(tree->leaves()));
        ASSERT_EQ(failure, run(*tree, state)) << seed;
        ASSERT_LE(state.leaves, tree->leaves()) << seed;
    }
}

TEST_P(ParallelTrees, RunSideBySide) {
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; t++) {
        threads.emplace_back([t] {
            for (unsigned seed = 0; seed < 20; seed++) {
                std::mt19937 rng(100 * t + seed);
                const auto tree = make_tree(rng, 3);
                TreeRun state;
                ASSERT_EQ(0, run(*tree, state)) << t << ' ' << seed;
                ASSERT_EQ(tree->leaves(), state.leaves) << t << ' ' << seed;
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
}

}  // namespace
