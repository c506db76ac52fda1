// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tasks beside each other with semaphores between them, as async stages make them.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "runtime/runtime.h"
#include "runtime/with_threads.h"

namespace {

/** A task that calls a lambda for each iteration. */
template<typename Fn>
calotype_parallel_task_t make_task(Fn &fn, int extent, calotype_semaphore_acquire_t *acquire,
                                   bool serial = true) {
    calotype_parallel_task_t task = {};
    task.fn = [](void *, int min, int n, uint8_t *closure, void *parent) {
        for (int i = min; i < min + n; i++) {
            if (int code = (*reinterpret_cast<Fn *>(closure))(i, parent)) {
                return code;
            }
        }
        return 0;
    };
    task.closure = reinterpret_cast<uint8_t *>(&fn);
    task.name = "task";
    task.semaphores = acquire;
    task.num_semaphores = acquire ? 1 : 0;
    task.min = 0;
    task.extent = extent;
    task.min_threads = acquire ? 1 : 0;
    task.serial = serial;
    return task;
}

class ParallelTasks : public calotype_test::WithThreads {};

INSTANTIATE_TEST_SUITE_P(Threads, ParallelTasks, ::testing::Values(1, 2, 3, 8, 16));

TEST_P(ParallelTasks, RunEachIterationOnce) {
    std::vector<std::atomic<int>> a(50), b(60);
    auto fa = [&](int i, void *) {
        a[i]++;
        return 0;
    };
    auto fb = [&](int i, void *) {
        b[i]++;
        return 0;
    };
    calotype_parallel_task_t tasks[] = {make_task(fa, 50, nullptr, true),
                                        make_task(fb, 60, nullptr, false)};
    EXPECT_EQ(0, calotype_do_parallel_tasks(nullptr, 2, tasks, nullptr));
    for (auto &count : a) {
        EXPECT_EQ(1, count);
    }
    for (auto &count : b) {
        EXPECT_EQ(1, count);
    }
}

TEST_P(ParallelTasks, SerialOnesKeepTheirOrder) {
    std::vector<int> seen;
    auto f = [&](int i, void *) {
        seen.push_back(i);
        return 0;
    };
    calotype_semaphore_t semaphore;
    calotype_semaphore_init(&semaphore, 100);
    calotype_semaphore_acquire_t acquire = {&semaphore, 1};
    calotype_parallel_task_t task = make_task(f, 100, &acquire);
    EXPECT_EQ(0, calotype_do_parallel_tasks(nullptr, 1, &task, nullptr));
    ASSERT_EQ(100u, seen.size());
    for (int i = 0; i < 100; i++) {
        EXPECT_EQ(i, seen[i]);
    }
}

/** A producer and a consumer round a ring of `slots`, each iteration with a parallel loop. */
int run_ring(int slots, int items, int64_t *sum) {
    calotype_semaphore_t room, ready;
    calotype_semaphore_init(&room, slots);
    calotype_semaphore_init(&ready, 0);
    calotype_semaphore_acquire_t take_room = {&room, 1}, take_ready = {&ready, 1};
    std::vector<int> ring(slots);
    auto nothing = [](void *, int, uint8_t *) {
        return 0;
    };
    auto produce = [&](int i, void *) {
        ring[i % slots] = i;
        calotype_do_par_for(nullptr, nothing, 0, 4, nullptr);
        calotype_semaphore_release(&ready, 1);
        return 0;
    };
    auto consume = [&](int i, void *) {
        *sum += ring[i % slots];
        calotype_do_par_for(nullptr, nothing, 0, 4, nullptr);
        calotype_semaphore_release(&room, 1);
        return 0;
    };
    calotype_parallel_task_t tasks[] = {make_task(produce, items, &take_room),
                                        make_task(consume, items, &take_ready)};
    return calotype_do_parallel_tasks(nullptr, 2, tasks, nullptr);
}

TEST_P(ParallelTasks, PassItemsRoundARing) {
    for (int slots : {1, 2, 5}) {
        int64_t sum = 0;
        EXPECT_EQ(0, run_ring(slots, 300, &sum));
        EXPECT_EQ(300 * 299 / 2, sum);
    }
}

TEST_P(ParallelTasks, PassItemsRoundManyRingsAtOnce) {
    std::vector<std::thread> threads;
    std::atomic<int64_t> total{0};
    for (int t = 0; t < 4; t++) {
        threads.emplace_back([&] {
            int64_t sum = 0;
            EXPECT_EQ(0, run_ring(2, 200, &sum));
            total += sum;
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    EXPECT_EQ(4 * 200 * 199 / 2, total);
}

/** The consumer waits not at its own level but in a nested call: a thread sleeps inside a task. */
TEST_P(ParallelTasks, MakeProgressWhenAllThreadsSleepInNestedCalls) {
    constexpr int items = 40;
    calotype_semaphore_t ready, room;
    calotype_semaphore_init(&ready, 0);
    calotype_semaphore_init(&room, 1);
    calotype_semaphore_acquire_t take_ready = {&ready, 1}, take_room = {&room, 1};
    int slot = -1;
    std::vector<int> seen;
    auto produce_one = [&](int i, void *) {
        slot = i;
        calotype_semaphore_release(&ready, 1);
        return 0;
    };
    auto consume_one = [&](int, void *) {
        seen.push_back(slot);
        calotype_semaphore_release(&room, 1);
        return 0;
    };
    auto producer = [&](int, void *parent) {
        calotype_parallel_task_t inner = make_task(produce_one, items, &take_room);
        return calotype_do_parallel_tasks(nullptr, 1, &inner, parent);
    };
    auto consumer = [&](int, void *parent) {
        calotype_parallel_task_t inner = make_task(consume_one, items, &take_ready);
        return calotype_do_parallel_tasks(nullptr, 1, &inner, parent);
    };
    calotype_parallel_task_t tasks[] = {make_task(consumer, 1, nullptr),
                                        make_task(producer, 1, nullptr)};
    tasks[0].min_threads = tasks[1].min_threads = 1;
    EXPECT_EQ(0, calotype_do_parallel_tasks(nullptr, 2, tasks, nullptr));
    ASSERT_EQ(size_t(items), seen.size());
    for (int i = 0; i < items; i++) {
        EXPECT_EQ(i, seen[i]);
    }
}

TEST_P(ParallelTasks, DropWhatWaitsForAFailedOne) {
    calotype_semaphore_t ready;
    calotype_semaphore_init(&ready, 0);
    calotype_semaphore_acquire_t take_ready = {&ready, 1};
    std::atomic<int> consumed{0};
    auto produce = [&](int i, void *) {
        if (i == 5) {
            return -16;
        }
        calotype_semaphore_release(&ready, 1);
        return 0;
    };
    auto consume = [&](int, void *) {
        consumed++;
        return 0;
    };
    auto consumer = [&](int, void *parent) {
        calotype_parallel_task_t inner = make_task(consume, 100, &take_ready);
        return calotype_do_parallel_tasks(nullptr, 1, &inner, parent);
    };
    calotype_parallel_task_t tasks[] = {make_task(consumer, 1, nullptr),
                                        make_task(produce, 100, nullptr)};
    tasks[0].min_threads = 1;
    EXPECT_EQ(-16, calotype_do_parallel_tasks(nullptr, 2, tasks, nullptr));
    EXPECT_LE(consumed, 5);
}

TEST_P(ParallelTasks, AcquireSeveralSemaphores) {
    calotype_semaphore_t a, b;
    calotype_semaphore_init(&a, 0);
    calotype_semaphore_init(&b, 0);
    calotype_semaphore_acquire_t both[] = {{&a, 2}, {&b, 3}};
    int count = 0;
    auto consume = [&](int, void *) {
        count++;
        return 0;
    };
    auto give_a = [&](int, void *) {
        calotype_semaphore_release(&a, 1);
        return 0;
    };
    auto give_b = [&](int, void *) {
        calotype_semaphore_release(&b, 1);
        return 0;
    };
    calotype_parallel_task_t tasks[] = {make_task(consume, 10, both),
                                        make_task(give_a, 20, nullptr, false),
                                        make_task(give_b, 30, nullptr, true)};
    tasks[0].num_semaphores = 2;
    EXPECT_EQ(0, calotype_do_parallel_tasks(nullptr, 3, tasks, nullptr));
    EXPECT_EQ(10, count);
    EXPECT_FALSE(calotype_semaphore_try_acquire(&a, 1));
    EXPECT_FALSE(calotype_semaphore_try_acquire(&b, 1));
}

TEST_P(ParallelTasks, CanBeMany) {
    std::atomic<int> count{0};
    auto f = [&](int, void *) {
        count++;
        return 0;
    };
    std::vector<calotype_parallel_task_t> tasks(30, make_task(f, 3, nullptr));
    tasks[7].extent = 0;
    EXPECT_EQ(0, calotype_do_parallel_tasks(nullptr, 30, tasks.data(), nullptr));
    EXPECT_EQ(29 * 3, count);
}

TEST(Semaphore, Counts) {
    calotype_semaphore_t semaphore;
    EXPECT_EQ(3, calotype_semaphore_init(&semaphore, 3));
    EXPECT_TRUE(calotype_semaphore_try_acquire(&semaphore, 2));
    EXPECT_FALSE(calotype_semaphore_try_acquire(&semaphore, 2));
    EXPECT_EQ(2, calotype_semaphore_release(&semaphore, 1));
    EXPECT_TRUE(calotype_semaphore_try_acquire(&semaphore, 2));
    EXPECT_FALSE(calotype_semaphore_try_acquire(&semaphore, 1));
}

}  // namespace
