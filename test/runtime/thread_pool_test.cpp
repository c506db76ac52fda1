// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The thread pool: every iteration runs exactly once, failures come back, nothing hangs, whatever
// the number of threads, the nesting and the number of callers. Also run under the thread
// sanitizer.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <pthread.h>
#include <random>
#include <signal.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "runtime/runtime.h"
#include "runtime/with_threads.h"

namespace {

/** Calls a lambda from the C interface. */
template<typename Fn>
int par_for(int min, int size, const Fn &fn) {
    auto call = [](void *, int i, uint8_t *closure) {
        return (*reinterpret_cast<const Fn *>(closure))(i);
    };
    void *closure = const_cast<Fn *>(&fn);
    return calotype_do_par_for(nullptr, call, min, size, static_cast<uint8_t *>(closure));
}

class ThreadPool : public calotype_test::WithThreads {};

INSTANTIATE_TEST_SUITE_P(Threads, ThreadPool, ::testing::Values(1, 2, 3, 4, 8, 16));

TEST_P(ThreadPool, RunsEveryIterationOnce) {
    for (int size : {0, 1, 2, 3, 7, 63, 64, 65, 100, 129, 1000, 5000}) {
        std::vector<std::atomic<int>> count(size + 1);
        EXPECT_EQ(0, par_for(-5, size, [&](int i) {
                      count[i + 5]++;
                      return 0;
                  }));
        for (int i = 0; i < size; i++) {
            ASSERT_EQ(1, count[i]) << i << " of " << size;
        }
        EXPECT_EQ(0, count[size]);
    }
}

TEST_P(ThreadPool, RunsManyShortLoops) {
    std::atomic<int64_t> sum{0};
    for (int round = 0; round < 2000; round++) {
        par_for(0, 5, [&](int i) {
            sum += i;
            return 0;
        });
    }
    EXPECT_EQ(2000 * 10, sum);
}

// Between loops threads are still at work, look for more, or have gone to sleep.
TEST_P(ThreadPool, BringsAThreadToEachOfAFewIterations) {
    const int iterations = std::min(3, GetParam());
    std::mt19937 random(7);
    for (int round = 0; round < 300; round++) {
        std::atomic<int> begun{0};
        const int code = par_for(0, iterations, [&](int) {
            begun++;
            const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
            while (begun < iterations && std::chrono::steady_clock::now() < end) {
                std::this_thread::yield();
            }
            return begun < iterations ? -1 : 0;
        });
        ASSERT_EQ(0, code) << "round " << round;
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 3 * (random() % 250)));
    }
}

TEST_P(ThreadPool, ReachesBothEndsOfTheIntegers) {
    std::atomic<int64_t> sum{0};
    auto add = [&](int i) {
        sum += i;
        return 0;
    };
    EXPECT_EQ(0, par_for(INT32_MAX - 9, 10, add));
    EXPECT_EQ(int64_t(INT32_MAX) * 10 - 45, sum);
    sum = 0;
    EXPECT_EQ(0, par_for(INT32_MIN, 10, add));
    EXPECT_EQ(int64_t(INT32_MIN) * 10 + 45, sum);
}

TEST_P(ThreadPool, NestsFourDeep) {
    std::atomic<int> count{0};
    auto innermost = [&](int) {
        count++;
        return 0;
    };
    auto third = [&](int) {
        return par_for(0, 4, innermost);
    };
    auto second = [&](int) {
        return par_for(0, 5, third);
    };
    auto first = [&](int) {
        return par_for(0, 6, second);
    };
    EXPECT_EQ(0, par_for(0, 7, first));
    EXPECT_EQ(4 * 5 * 6 * 7, count);
}

TEST_P(ThreadPool, ReturnsTheCodeOfAFailure) {
    for (int bad : {0, 1, 50, 99}) {
        std::atomic<int> calls{0};
        int code = par_for(0, 100, [&](int i) {
            calls++;
            return i == bad ? -27 : 0;
        });
        EXPECT_EQ(-27, code);
        EXPECT_GE(calls, 1);
        EXPECT_LE(calls, 100);
    }
    std::atomic<int> calls{0};
    EXPECT_EQ(-3, par_for(0, 1000000, [&](int) {
        calls++;
        return -3;
    }));
    EXPECT_LT(calls, 1000) << "no thread goes on with the rest of its piece";
}

TEST_P(ThreadPool, PassesAFailureThroughNestedLoops) {
    auto inner = [](int i) {
        return i == 3 ? -11 : 0;
    };
    auto outer = [&](int) {
        return par_for(0, 10, inner);
    };
    EXPECT_EQ(-11, par_for(0, 10, outer));
    // The pool is as good as new.
    std::atomic<int> count{0};
    EXPECT_EQ(0, par_for(0, 10, [&](int) {
                  count++;
                  return 0;
              }));
    EXPECT_EQ(10, count);
}

TEST_P(ThreadPool, ServesManyCallersAtOnce) {
    constexpr int callers = 6, rounds = 100;
    std::vector<int64_t> sums(callers, 0);
    std::vector<std::thread> threads;
    for (int c = 0; c < callers; c++) {
        threads.emplace_back([&sums, c] {
            for (int round = 0; round < rounds; round++) {
                std::atomic<int64_t> sum{0};
                auto inner = [&](int i) {
                    sum += i;
                    return 0;
                };
                auto outer = [&](int) {
                    return par_for(0, 10, inner);
                };
                ASSERT_EQ(0, par_for(0, 4, outer));
                sums[c] += sum;
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    for (int c = 0; c < callers; c++) {
        EXPECT_EQ(rounds * 4 * 45, sums[c]);
    }
}

TEST_P(ThreadPool, ShutsDownAndStartsAgain) {
    for (int round = 0; round < 5; round++) {
        std::atomic<int> count{0};
        par_for(0, 20, [&](int) {
            count++;
            return 0;
        });
        EXPECT_EQ(20, count);
        calotype_shutdown_thread_pool();
    }
}

TEST_P(ThreadPool, UsesAtMostSoManyThreads) {
    std::atomic<int> running{0}, most{0};
    for (int round = 0; round < 20; round++) {
        par_for(0, 64, [&](int) {
            int now = ++running, seen = most;
            while (now > seen && !most.compare_exchange_weak(seen, now)) {
            }
            std::this_thread::yield();
            running--;
            return 0;
        });
    }
    EXPECT_LE(most, GetParam());
}

TEST_P(ThreadPool, WorksOnInAForkedChild) {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "the thread sanitizer forbids threads in forked children";
#elif defined __SANITIZE_ADDRESS__ && __GNUC__ < 14
    if (GetParam() > 1) {
        GTEST_SKIP() << "a fork can leave this sanitizer's allocator locked in the child: a worker "
                        "that has just started allocates";
    }
#endif
    auto count_to_20 = [] {
        std::atomic<int> count{0};
        par_for(0, 20, [&](int) {
            count++;
            return 0;
        });
        return count.load();
    };
    EXPECT_EQ(20, count_to_20());
    const pid_t child = fork();
    if (child == 0) {
        const int count = count_to_20();
        calotype_shutdown_thread_pool();  // as at the end of a process
        _exit(count);
    }
    int status = 0;
    ASSERT_EQ(child, waitpid(child, &status, 0));
    EXPECT_EQ(20, WEXITSTATUS(status));
    EXPECT_EQ(20, count_to_20());
}

/// As the driver of a GPU does to threads that have called it.
struct KeepsItsThread {
    ~KeepsItsThread() {
        for (;;) {
            pause();
        }
    }
};

TEST(ThreadPoolAtExit, AWorkerThatIsKeptAsItEndsDoesNotKeepTheProcess) {
    const pid_t child = fork();
    if (child == 0) {
        const std::thread::id main_thread = std::this_thread::get_id();
        std::atomic<int> kept{0};
        while (kept == 0) {
            par_for(0, 100, [&](int) {
                if (std::this_thread::get_id() != main_thread) {
                    static thread_local KeepsItsThread of_the_worker;
                    (void)of_the_worker;
                    kept++;
                }
                return 0;
            });
        }
        exit(7);
    }
    int status = 0;
    ASSERT_EQ(child, waitpid(child, &status, 0));
    EXPECT_EQ(7, WEXITSTATUS(status));
}

TEST(ThreadPoolSize, IsWhatWasSet) {
    calotype_set_num_threads(5);
    EXPECT_EQ(5, calotype_get_num_threads());
    EXPECT_EQ(5, calotype_set_num_threads(1000));
    EXPECT_EQ(256, calotype_get_num_threads());
    calotype_set_num_threads(0);
    EXPECT_GE(calotype_get_num_threads(), 1);
}

TEST(ThreadPoolSize, ComesFromTheEnvironment) {
    auto threads_with = [](const char *name, const char *value) {
        setenv(name, value, 1);
        calotype_set_num_threads(0);
        unsetenv(name);
        return calotype_get_num_threads();
    };
    EXPECT_EQ(3, threads_with("CT_NUM_THREADS", "3"));
    EXPECT_EQ(5, threads_with("CT_NUMTHREADS", "5"));
    EXPECT_EQ(4, threads_with("HL_NUM_THREADS", "4"));
    EXPECT_EQ(256, threads_with("CT_NUM_THREADS", "9999"));
    calotype_set_num_threads(0);
    const int processors = calotype_get_num_threads();
    EXPECT_EQ(processors, threads_with("CT_NUM_THREADS", "none"));
    EXPECT_EQ(processors, threads_with("CT_NUM_THREADS", "-2"));
}

std::string last_message;

TEST(ThreadPoolSize, CannotBeNegative) {
    last_message.clear();
    auto old = calotype_set_error_handler([](void *, const char *m) { last_message = m; });
    calotype_set_num_threads(3);
    EXPECT_EQ(-1, calotype_set_num_threads(-2));
    EXPECT_EQ(3, calotype_get_num_threads());
    EXPECT_EQ("number of threads is -2, must be at least 0", last_message);
    calotype_set_error_handler(old);
    calotype_set_num_threads(0);
}

TEST(ThreadPoolHooks, ReplaceLoopsAndTasks) {
    static int loops, tasks;
    loops = tasks = 0;
    auto old_loop = calotype_set_custom_do_par_for(
        [](void *user_context, calotype_task_t task, int min, int size, uint8_t *closure) {
            loops++;
            return calotype_default_do_par_for(user_context, task, min, size, closure);
        });
    auto old_task = calotype_set_custom_do_task(
        [](void *user_context, calotype_task_t task, int i, uint8_t *closure) {
            tasks++;
            return calotype_default_do_task(user_context, task, i, closure);
        });
    calotype_set_num_threads(1);
    par_for(0, 9, [](int) { return 0; });
    calotype_set_custom_do_par_for(nullptr);
    par_for(0, 9, [](int) { return 0; });
    calotype_set_custom_do_par_for(old_loop);
    calotype_set_custom_do_task(old_task);
    calotype_set_num_threads(0);
    EXPECT_EQ(1, loops);
    EXPECT_EQ(18, tasks);
}

int custom_calls;

/** A parallel runtime without threads; what it is asked for is counted by kinds, one a decimal digit. */
void set_counting_runtime() {
    custom_calls = 0;
    calotype_set_custom_parallel_runtime(
        [](void *user_context, calotype_task_t task, int min, int size, uint8_t *closure) {
            custom_calls += 1;
            for (int i = min; i < min + size; i++) {
                calotype_do_task(user_context, task, i, closure);
            }
            return 0;
        },
        [](void *user_context, calotype_task_t task, int i, uint8_t *closure) {
            custom_calls += 10;
            return task(user_context, i, closure);
        },
        [](void *, calotype_loop_task_t, int, int, uint8_t *, void *) {
            custom_calls += 100;
            return 0;
        },
        [](void *, int, calotype_parallel_task_t *, void *) {
            custom_calls += 1000;
            return 0;
        },
        [](calotype_semaphore_t *, int n) {
            custom_calls += 10000;
            return n;
        },
        [](calotype_semaphore_t *, int) {
            custom_calls += 100000;
            return true;
        },
        [](calotype_semaphore_t *, int n) {
            custom_calls += 1000000;
            return n;
        });
}

TEST(ThreadPoolHooks, ReplaceAllAtOnceAndBringBackTheDefaults) {
    set_counting_runtime();
    calotype_semaphore_t semaphore = {};
    par_for(0, 3, [](int) { return 0; });
    calotype_do_loop_task(nullptr, nullptr, 0, 1, nullptr, nullptr);
    calotype_do_parallel_tasks(nullptr, 0, nullptr, nullptr);
    calotype_semaphore_init(&semaphore, 1);
    calotype_semaphore_try_acquire(&semaphore, 1);
    calotype_semaphore_release(&semaphore, 1);
    EXPECT_EQ(custom_calls, 1111131);

    calotype_set_custom_parallel_runtime(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                         nullptr);
    int sum = 0;
    calotype_set_num_threads(1);
    par_for(0, 4, [&](int i) {
        sum += i;
        return 0;
    });
    calotype_set_num_threads(0);
    EXPECT_EQ(sum, 6);
    EXPECT_EQ(calotype_semaphore_init(&semaphore, 1), 1);
    EXPECT_TRUE(calotype_semaphore_try_acquire(&semaphore, 1));
    EXPECT_FALSE(calotype_semaphore_try_acquire(&semaphore, 1));
    EXPECT_EQ(custom_calls, 1111131);
}

/** "name, " and whether SIGUSR1, SIGSEGV and SIGPROF are blocked, of the calling thread. */
std::string thread_facts() {
    char name[16] = {};
    pthread_getname_np(pthread_self(), name, sizeof name);
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    return std::string(name) + ", " + std::to_string(sigismember(&mask, SIGUSR1)) + ", " +
           std::to_string(sigismember(&mask, SIGSEGV)) + ", " +
           std::to_string(sigismember(&mask, SIGPROF));
}

// Signals of the process are for the application's threads; crashes and profilers see all.
TEST(RuntimeThreads, HaveNamesAndBlockSignals) {
    calotype_set_num_threads(2);
    const std::string mine = thread_facts();
    struct Facts {
        std::atomic<int> arrived{0};
        std::string of[2];
    } facts;
    const auto task = [](void *, int i, uint8_t *closure) {
        Facts &facts = *reinterpret_cast<Facts *>(closure);
        facts.of[i] = thread_facts();
        facts.arrived++;
        while (facts.arrived < 2) {  // so that another thread has the other
            std::this_thread::yield();
        }
        return 0;
    };
    EXPECT_EQ(0, calotype_do_par_for(nullptr, task, 0, 2, reinterpret_cast<uint8_t *>(&facts)));
    const std::string worker = "calotype worker, 1, 0, 0";
    EXPECT_EQ(mine, facts.of[0] == worker ? facts.of[1] : facts.of[0]);
    EXPECT_TRUE(facts.of[0] == worker || facts.of[1] == worker) << facts.of[0] << facts.of[1];
    std::string spawned;
    calotype_join_thread(calotype_spawn_thread(
        [](void *text) { *static_cast<std::string *>(text) = thread_facts(); }, &spawned));
    EXPECT_EQ("calotype, 1, 0, 0", spawned);
    EXPECT_EQ(mine, thread_facts());
    calotype_shutdown_thread_pool();
    calotype_set_num_threads(0);
}

}  // namespace
