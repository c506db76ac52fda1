// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the threads of a process have locked or begun when it forks does not stop its child.
#include <cstring>
#include <thread>

#include "harness/fake_backend/fake_backend.h"
#include "harness/in_child.h"
#include "harness/on_context.h"
#include "runtime/cache/fake_backend_driver.h"
#include "runtime/host/fork_mutex.h"

namespace calotype_test {

class ChildProcess : public Scenario {};

/// The linkable is being set up by a thread that the child does not have.
TEST_P(ChildProcess, ForkedDuringASetup) {
    void *context = driver->make_context(), *other = driver->make_context();
    TestLinkable shared("shared");
    std::atomic<bool> is_inside{false}, may_end{false};
    const pid_t parent = getpid();
    shared.on_setup = [&](const calotype_callback_args &) {
        is_inside = true;
        while (getpid() == parent && !may_end) {
            std::this_thread::yield();
        }
        return 0;
    };
    const auto *a = module("a", {&shared}), *b = module("b", {&shared});
    std::thread thread([&] { run(context, a); });
    while (!is_inside) {
        std::this_thread::yield();
    }
    EXPECT_EQ(0, in_child([&] {
                  calotype_hold held;
                  int wrong = calotype_initialize_kernels(other, b, nullptr, &held) != CALOTYPE_OK;
                  wrong |= (calotype_finalize_kernels(other, &held) != CALOTYPE_OK) << 1;
                  wrong |= (calotype_shutdown(1000) != CALOTYPE_OK) << 2;
                  return wrong;
              }));
    may_end = true;
    thread.join();
    EXPECT_EQ("1 1 1 0 0", counts());
}

/// A callback may fork; what it has locked is the child's as well.
TEST_P(ChildProcess, ForkedByASetup) {
    void *context = driver->make_context();
    TestLinkable forks("forks");
    int answer = -1;
    forks.on_setup = [&](const calotype_callback_args &) {
        answer = in_child([] { return 3; });
        return 0;
    };
    run(context, module("m", {&forks}));
    EXPECT_EQ(3, answer);
    run(context, module("n", {&forks}));
}

TEST_P(ChildProcess, TheTicketOfAParent) {
    void *context = driver->make_context();
    driver->delay_builds(200);
    const calotype_module_desc *m = module("m");
    void *ticket = nullptr;
    EXPECT_EQ(CALOTYPE_OK, calotype_prefetch(on(context), &m, 1, 0, &ticket));
    calls++;
    EXPECT_EQ(0, in_child([&] {
                  int wrong = calotype_prefetch_wait(ticket, UINT32_MAX) != CALOTYPE_E_INVALID;
                  wrong |= (strcmp("the ticket is the parent process's, whose modules are not "
                                   "loaded in this one",
                                   calotype_last_error()->log) != 0)
                           << 1;
                  return wrong;
              }));
    EXPECT_EQ(CALOTYPE_OK, calotype_prefetch_wait(ticket, UINT32_MAX));
    driver->delay_builds(0);
}

/// The modules of the parent are not alive in the child, though its holds are to be given back.
TEST_P(ChildProcess, Statistics) {
    void *context = driver->make_context();
    const auto *m = module("m");
    calotype_hold held = hold(context, m);
    EXPECT_EQ(0, in_child([&] {
                  int wrong = stats().live_modules != 0 || stats().live_bytes != 0;
                  wrong |= (stats().holds != 1 || stats().loads != 1) << 1;
                  calotype_finalize_kernels(context, &held);
                  wrong |= (stats().holds != 0 || stats().orphans != 1) << 2;
                  calotype_hold mine;
                  calotype_initialize_kernels(driver->make_context(), m, nullptr, &mine);
                  wrong |= (stats().live_modules != 1 || stats().loads != 2) << 3;
                  calotype_finalize_kernels(nullptr, &mine);
                  wrong |= (calotype_shutdown(1000) != CALOTYPE_OK) << 4;
                  wrong |= (stats().live_modules != 0 || stats().live_bytes != 0) << 5;
                  return wrong;
              }));
    EXPECT_EQ(1u, stats().live_modules);
    give_back(context, held);
}

/// Threads that lock all the time; a child finds what they lock free.
TEST_P(ChildProcess, Mutexes) {
    static constinit calotype::runtime::ForkMutex mutexes[2];
    static int values[2];
    std::atomic<bool> is_over{false};
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; t++) {
        threads.emplace_back([&, t] {
            while (!is_over) {
                calotype::runtime::LockGuard guard(mutexes[t]);
                values[t]++;
                std::this_thread::sleep_for(std::chrono::microseconds(200));
                values[t]++;
            }
        });
    }
    for (int i = 0; i < 20; i++) {
        EXPECT_EQ(0, in_child([] {
                      int wrong = 0;
                      for (int t = 0; t < 2; t++) {
                          calotype::runtime::LockGuard guard(mutexes[t]);
                          wrong |= (values[t] % 2) << t;
                      }
                      return wrong;
                  }));
    }
    is_over = true;
    for (std::thread &thread : threads) {
        thread.join();
    }
}

INSTANTIATE_TEST_SUITE_P(FakeBackend, ChildProcess, ::testing::Values(make_fake_backend_driver));

}  // namespace calotype_test
