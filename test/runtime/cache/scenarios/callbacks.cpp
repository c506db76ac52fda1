// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What setup and teardown are promised: order with streams, one at a time, a slot of their own, why
// they are called, and an answer in place of a wait without end.
#include <chrono>
#include <map>
#include <thread>

#include "harness/on_context.h"
#include "runtime/cache/scenario_fixture.h"

namespace calotype_test {

using namespace std::chrono_literals;

TEST_P(Scenario, G4_TeardownOfFailedSetupWaitsForTheStream) {
    TestLinkable a("a"), b("b");
    std::atomic<bool> is_held{true}, torn_down_while_held{false};
    b.on_setup = [](const calotype_callback_args &) {
        return 1;
    };
    a.on_teardown = [&](const calotype_callback_args &) {
        torn_down_while_held = is_held.load();
        return 0;
    };
    void *context = driver->make_context();
    const auto *m = module("m", {&a, &b});
    if (!driver->hold_stream(context, true)) {
        GTEST_SKIP() << "streams of this driver cannot be held";
    }
    std::thread caller([&] {
        calotype_hold held;
        EXPECT_EQ(CALOTYPE_E_SETUP, try_hold(context, m, &held));
    });
    std::this_thread::sleep_for(50ms);
    is_held = false;
    driver->hold_stream(context, false);
    caller.join();
    EXPECT_FALSE(torn_down_while_held);
    EXPECT_EQ("s:a s:b t:a", call_log().text());
}

TEST_P(Scenario, G5_TheContextIsCurrent) {
    void *contexts[] = {driver->make_context(), driver->make_context()};
    if (driver->is_current(contexts[0]) < 0) {
        GTEST_SKIP() << "threads of this driver have no current context";
    }
    const uint64_t first = uid_of(contexts[0]);
    TestLinkable a("a");
    int current = 0;
    a.on_setup = a.on_teardown = [&](const calotype_callback_args &args) {
        current += driver->is_current(contexts[args.ctx_uid == first ? 0 : 1]);
        return 0;
    };
    const auto *m = module("m", {&a});
    run(contexts[0], m);
    run(contexts[1], m);
    EXPECT_EQ(2, current);
    EXPECT_EQ(CALOTYPE_OK, calotype_shutdown(1000));
    EXPECT_EQ("1 2 2 2 2", counts());
    EXPECT_EQ(4, current);
    for (void *context : contexts) {
        EXPECT_EQ(0, driver->is_current(context));
    }
}

TEST_P(Scenario, G6_CallbacksOfALinkableRunOneAtATime) {
    for (const bool is_safe : {false, true}) {
        TestLinkable a(is_safe ? "safe" : "serial");
        a.desc.flags = is_safe ? CALOTYPE_LK_THREADSAFE : 0;
        std::atomic<int> inside{0}, most{0};
        const auto stay = [&](const calotype_callback_args &) {
            const int now = ++inside;
            for (int i = 0; i < (is_safe ? 5000 : 50) && most < 2; i++) {
                int seen = most;
                const int there = inside;
                while (seen < there && !most.compare_exchange_weak(seen, there)) {
                }
                std::this_thread::sleep_for(1ms);
            }
            inside--;
            return now > 0 ? 0 : 1;
        };
        a.on_setup = stay;
        void *contexts[] = {driver->make_context(), driver->make_context()};
        const auto *m = module(a.name + "_m", {&a});
        in_threads(2, [&](int i) { run(contexts[i], m); });
        EXPECT_EQ(is_safe ? 2 : 1, most) << a.name;
        most = 0;
        a.on_setup = nullptr;
        a.on_teardown = stay;
        in_threads(2, [&](int i) {
            EXPECT_EQ(CALOTYPE_OK, calotype_release_context(on(contexts[i]), CALOTYPE_REL_BUSY, 0));
        });
        EXPECT_EQ(is_safe ? 2 : 1, most) << a.name;
    }
    EXPECT_EQ("2 4 4 4 4", counts());
}

TEST_P(Scenario, G8_InstancesArePrivate) {
    using Slot = std::pair<uint64_t, const void *>;
    TestLinkable a("a"), b("b");
    std::map<Slot, void *> given;
    uintptr_t last = 0;
    for (TestLinkable *linkable : {&a, &b}) {
        linkable->on_setup = [&](const calotype_callback_args &args) {
            EXPECT_EQ(nullptr, *args.instance);
            *args.instance = reinterpret_cast<void *>(++last);
            given[{args.ctx_uid, args.instance}] = *args.instance;
            return 0;
        };
        linkable->on_teardown = [&](const calotype_callback_args &args) {
            const Slot slot(args.ctx_uid, args.instance);
            EXPECT_EQ(given.at(slot), *args.instance);
            given.erase(slot);
            return 0;
        };
    }
    void *contexts[] = {driver->make_context(), driver->make_context()};
    for (const auto *desc : {module("m", {&a, &b}), module("n", {&b})}) {
        run(contexts[0], desc);
        run(contexts[1], desc);
    }
    EXPECT_EQ(6u, given.size());
    EXPECT_EQ(CALOTYPE_OK, calotype_shutdown(1000));
    EXPECT_EQ(0u, given.size());
}

TEST_P(Scenario, G9_ReadyWaitsForWhatSetupsQueued) {
    TestLinkable a("a");
    void *context = driver->make_context();
    const auto *m = module("m", {&a});
    if (!driver->hold_stream(context, true)) {
        GTEST_SKIP() << "streams of this driver cannot be held";
    }
    std::atomic<bool> is_ready{false};
    std::thread caller([&] {
        calotype_hold held = hold(context, m);
        is_ready = true;
        give_back(context, held);
    });
    std::this_thread::sleep_for(50ms);
    EXPECT_FALSE(is_ready);
    driver->hold_stream(context, false);
    caller.join();
}

// G1.
TEST_P(Scenario, TeardownsAreToldWhy) {
    TestLinkable a("a"), failing("failing");
    std::vector<calotype_reason> reasons;
    a.on_teardown = [&](const calotype_callback_args &args) {
        EXPECT_NE(nullptr, args.module);
        EXPECT_EQ(CALOTYPE_EV_TEARDOWN, args.event);
        reasons.push_back(args.reason);
        return 0;
    };
    a.on_setup = [](const calotype_callback_args &args) {
        EXPECT_EQ(CALOTYPE_EV_SETUP, args.event);
        EXPECT_EQ(CALOTYPE_R_LOAD, args.reason);
        return 0;
    };
    failing.on_setup = [](const calotype_callback_args &) {
        return 1;
    };
    void *context = driver->make_context();
    const auto *m = module("m", {&a});
    run(context, m);
    EXPECT_EQ(CALOTYPE_OK, calotype_evict(on(context), m, 0));
    run(context, m);
    EXPECT_EQ(CALOTYPE_OK, calotype_trim(on(context), 0, nullptr));
    run(context, m);
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(on(context), CALOTYPE_REL_BUSY, 0));
    calotype_hold held;
    EXPECT_EQ(CALOTYPE_E_SETUP, try_hold(context, module("n", {&a, &failing}), &held));
    run(context, m);
    EXPECT_EQ(CALOTYPE_OK, calotype_shutdown(1000));
    EXPECT_EQ((std::vector<calotype_reason>{CALOTYPE_R_EVICT, CALOTYPE_R_EVICT,
                                            CALOTYPE_R_CONTEXT_RELEASE, CALOTYPE_R_SETUP_FAILED,
                                            CALOTYPE_R_SHUTDOWN}),
              reasons);
}

TEST_P(Scenario, SetupFindsKernels) {
    TestLinkable a("a");
    a.on_setup = [](const calotype_callback_args &args) {
        void *function = nullptr;
        EXPECT_EQ(CALOTYPE_OK, args.svc->get_function(&args, "k0", &function));
        EXPECT_NE(nullptr, function);
        EXPECT_NE(CALOTYPE_OK, args.svc->get_function(&args, "no_such_kernel", &function));
        return 0;
    };
    run(driver->make_context(), module("m", {&a}));
    EXPECT_EQ("1 1 1 0 0", counts());
}

// G11.
TEST_P(Scenario, TeardownThrows) {
    TestLinkable a("a"), b("b");
    b.on_teardown = [](const calotype_callback_args &) -> int {
        throw 7;
    };
    void *context = driver->make_context();
    run(context, module("m", {&a, &b}));
    EXPECT_EQ(CALOTYPE_E_TEARDOWN, calotype_release_context(on(context), CALOTYPE_REL_BUSY, 0));
    EXPECT_STREQ("the callback threw an exception", calotype_last_error()->log);
    EXPECT_STREQ("b", calotype_last_error()->linkable_name);
    EXPECT_EQ("s:a s:b t:b t:a", call_log().text());
    EXPECT_EQ("1 1 2 2 1", counts());
}

// G7.
TEST_P(Scenario, CallbacksAskForTheirOwnModule) {
    TestLinkable a("a");
    void *context = driver->make_context();
    const auto *m = module("m", {&a});
    std::string said;
    const auto ask = [&](const calotype_callback_args &) {
        calotype_hold held;
        EXPECT_EQ(CALOTYPE_E_REENTRANT, try_hold(context, m, &held));
        said += calotype_last_error()->log + std::string("; ");
        return 0;
    };
    a.on_setup = ask;
    a.on_teardown = ask;
    run(context, m);
    EXPECT_EQ(CALOTYPE_OK, calotype_evict(on(context), m, 0));
    EXPECT_EQ("a callback or compile step of the module asks for the module; "
              "a teardown callback of the module asks for the module; ",
              said);
}

// G7.
TEST_P(Scenario, SetupWaitsForAPrefetchOfItsOwnModule) {
    TestLinkable a("a");
    void *context = driver->make_context();
    const auto *m = module("m", {&a});
    calotype_status answer = CALOTYPE_OK;
    void *ticket = nullptr;
    a.on_setup = [&](const calotype_callback_args &) {
        calls++;  // by the prefetch, which is refused
        refused++;
        EXPECT_EQ(CALOTYPE_OK, calotype_prefetch(on(context), &m, 1, 0, &ticket));
        answer = calotype_prefetch_wait(ticket, 60000);
        if (std::string(calotype_last_error()->log) !=
            "the thread that loads the module waits for this one") {
            EXPECT_STREQ("a thread that loads the modules waits for this one",
                         calotype_last_error()->log);
        } else {
            ticket = nullptr;  // the prefetch was refused, and its ticket is used up
        }
        return 0;
    };
    run(context, m);
    EXPECT_EQ(CALOTYPE_E_DEADLOCK, answer);
    if (ticket) {  // what it waited for is loaded now: a wait, not a refusal
        refused--;
        EXPECT_EQ(CALOTYPE_OK, calotype_prefetch_wait(ticket, 60000));
    }
    EXPECT_EQ("1 1 1 0 0", counts());
}

// G7.
TEST_P(Scenario, SetupShutsDownBesideAPrefetchOfItsOwnModule) {
    TestLinkable a("a");
    void *context = driver->make_context();
    const auto *m = module("m", {&a});
    std::atomic<bool> is_over{false};
    a.on_setup = [&](const calotype_callback_args &) {
        calls++;  // by the prefetch, which waits for this module
        EXPECT_EQ(CALOTYPE_OK, calotype_prefetch(on(context), &m, 1, 0, nullptr));
        while (stats().waits == 0) {
            std::this_thread::yield();
        }
        EXPECT_EQ(CALOTYPE_E_REENTRANT, calotype_shutdown(60000));
        is_over = true;
        return 0;
    };
    run(context, m);
    EXPECT_TRUE(is_over);
    EXPECT_EQ("1 1 1 0 0", counts());
}

TEST_P(Scenario, SetupsOfTwoLinkablesWaitForEachOther) {
    TestLinkable a("a"), b("b");
    void *context = driver->make_context();
    const auto *first_a = module("first_a", {&a}), *second_a = module("second_a", {&a});
    const auto *first_b = module("first_b", {&b}), *second_b = module("second_b", {&b});
    std::atomic<int> inside{0}, deadlocks{0};
    const auto asking_for = [&](const calotype_module_desc *other) {
        return [&, other](const calotype_callback_args &args) {
            if (std::string(args.desc->name).rfind("second", 0) == 0) {
                return 0;
            }
            inside++;
            while (inside < 2) {
                std::this_thread::yield();
            }
            calotype_hold held;
            if (try_hold(context, other, &held) == CALOTYPE_OK) {
                give_back(context, held);
                return 0;
            }
            EXPECT_EQ(CALOTYPE_E_DEADLOCK, calotype_last_error()->status);
            EXPECT_STREQ("a callback of the linkable runs on a thread that waits for this one",
                         calotype_last_error()->log);
            refused--;  // it was a miss: its setup was refused, not the call
            deadlocks++;
            return 0;
        };
    };
    a.on_setup = asking_for(second_b);
    b.on_setup = asking_for(second_a);
    in_threads(2, [&](int i) { run(context, i ? first_a : first_b); });
    EXPECT_EQ(1, deadlocks);
}

}  // namespace calotype_test
