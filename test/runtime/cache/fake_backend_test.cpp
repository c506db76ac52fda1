// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the cache does where only the fake back end can bring it: capture, launches beyond limits,
// child processes, libraries that are closed.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "harness/fake_backend/fake_backend.h"
#include "harness/on_context.h"
#include "harness/processes.h"
#include "runtime/abi/errors.h"
#include "runtime/abi/hooks.h"
#include "runtime/cache/fake_backend_driver.h"
#include "runtime/device/cache/fences.h"
#include "runtime/device/cache/table.h"

namespace calotype_test {

class FakeCache : public Scenario {};

static std::string reported;

TEST_P(FakeCache, ColdWhileCaptured) {
    auto *context = static_cast<FakeContext *>(driver->make_context());
    const auto *m = module("m");
    context->stream.is_capturing = true;
    calotype_hold held;
    EXPECT_EQ(CALOTYPE_E_CAPTURE, try_hold(context, m, &held));
    EXPECT_STREQ("m", calotype_last_error()->module_name);
    context->stream.is_capturing = false;
    run(context, m);
    context->stream.is_capturing = true;
    held = hold(context, m);  // warm
    EXPECT_EQ(CALOTYPE_E_CAPTURE,
              calotype_finalize_kernels_after(context, &held, &context->stream));
    EXPECT_EQ(CALOTYPE_E_CAPTURE, calotype_evict(on(context), m, CALOTYPE_EVICT_DEFER));
    EXPECT_EQ(CALOTYPE_E_CAPTURE, calotype_trim(on(context), 0, nullptr));
    EXPECT_EQ(CALOTYPE_E_CAPTURE, calotype_release_context(on(context), CALOTYPE_REL_BUSY, 0));
    context->stream.is_capturing = false;
    EXPECT_EQ(CALOTYPE_OK, calotype_evict(on(context), m, CALOTYPE_EVICT_DEFER));
    context->stream.is_capturing = true;
    give_back(context, held);  // and stays, until nothing is captured
    EXPECT_EQ("1 1 0 0 0", counts());
    context->stream.is_capturing = false;
    run(context, m);
    EXPECT_EQ("1 1 0 0 1", counts());
}

/// What is wrong with one caller is not wrong with those who wait for it.
TEST_P(FakeCache, ACaptureFailsTheCallerAlone) {
    auto *context = static_cast<FakeContext *>(driver->make_context());
    const auto *m = module("m");
    FakeCalls &calls = fake_backend_calls();
    const uint64_t asked = calls.count("is_capturing");
    context->stream.is_capturing = true;
    calls.delay("is_capturing", 100);
    std::thread captured([&] {
        calotype_hold held;
        EXPECT_EQ(CALOTYPE_E_CAPTURE, try_hold(context, m, &held));
    });
    while (calls.count("is_capturing") == asked) {
        std::this_thread::yield();
    }
    context->stream.is_capturing = false;
    calotype_hold held = {};
    EXPECT_EQ(CALOTYPE_OK, try_hold(context, m, &held)) << calotype_last_error()->log;
    captured.join();
    calls.delay("is_capturing", 0);
    give_back(context, held);
}

/// A thread begins without an error, though it has the place of one that ended with some.
TEST_P(FakeCache, AThreadHasNoErrorOfAnother) {
    void *context = driver->make_context();
    const auto *broken = module("broken", {}, {"broken", false, true});
    const auto in_thread = [](auto body) {
        std::thread(body).join();
    };
    in_thread([&] {
        calotype_hold held;
        EXPECT_EQ(CALOTYPE_E_COMPILE, try_hold(context, broken, &held));
        EXPECT_EQ(CALOTYPE_E_COMPILE, calotype_last_error()->status);
    });
    in_thread([] {
        EXPECT_EQ(CALOTYPE_OK, calotype_last_error()->status);
        EXPECT_STREQ("", calotype_last_error()->log);
    });
}

/// What a launch reads is there until its hold is given back, though the module has gone.
TEST_P(FakeCache, ForcedReleaseMeetsALaunch) {
    void *context = driver->make_context();
    TestLinkable asks("asks");
    asks.on_setup = [](const calotype_callback_args &args) {
        void *function = nullptr;  // one more that ends with the module
        return args.svc->get_function(&args, "extra", &function) == CALOTYPE_OK ? 0 : 1;
    };
    auto *m = module("m", {&asks});
    modules.back()->data.data += "\nkernel extra\n";
    modules.back()->image.data = modules.back()->data.data.data();
    modules.back()->image.size = modules.back()->data.data.size();
    calotype_hold held = hold(context, m);
    FakeCalls &calls = fake_backend_calls();
    const uint64_t closed = calls.count("close_function"), freed = calls.count("free_function");
    const uint64_t launches = calls.count("launch");
    calls.delay("launch", 100);
    std::thread thread([&] {
        const uint32_t one[3] = {1, 1, 1};
        EXPECT_EQ(CALOTYPE_E_CONTEXT_LOST,
                  calotype_launch(context, held, 0, one, one, 0, nullptr, nullptr));
        EXPECT_STREQ("kernel k0, grid 1 x 1 x 1, block 1 x 1 x 1, 0 bytes of dynamic shared "
                     "memory: the function is closed",
                     calotype_last_error()->log);
    });
    while (calls.count("launch") == launches) {
        std::this_thread::yield();
    }
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(on(context), CALOTYPE_REL_FORCE, 0));
    EXPECT_EQ("1 1 1 1 1", counts());
    EXPECT_EQ(closed + 2, calls.count("close_function"));
    EXPECT_EQ(freed, calls.count("free_function"));
    thread.join();
    calls.delay("launch", 0);
    give_back(context, held);
    EXPECT_EQ(freed + 2, calls.count("free_function"));
    EXPECT_EQ(1u, stats().orphans);
}

/// Limits that are set or met during a capture are kept after it.
TEST_P(FakeCache, LimitsWhileCaptured) {
    auto *context = static_cast<FakeContext *>(driver->make_context());
    TestLinkable capture("capture");
    capture.on_setup = [&](const calotype_callback_args &) {
        context->stream.is_capturing = true;
        return 0;
    };
    const auto *a = module("A"), *b = module("B"), *c = module("C", {&capture});
    run(context, a);
    run(context, b);
    const auto set_most = [](uint64_t n) {
        const calotype_limits limits = {sizeof limits, CALOTYPE_POLICY_LRU, 0, n, 0, 0};
        return calotype_set_limits(&limits);
    };
    const auto is_captured = [&](bool is) {
        context->stream.is_capturing = is;
        fake_backend_calls().fail("synchronize", CALOTYPE_E_CAPTURE, 1, is ? 1000 : 0);
    };
    is_captured(true);
    EXPECT_EQ(CALOTYPE_OK, set_most(1));
    EXPECT_EQ("2 2 0 0 0", counts());
    run(context, a);  // warm
    is_captured(false);
    EXPECT_EQ("2 2 0 0 0", counts());
    EXPECT_EQ(0u, stats().evictions);
    run(context, a);
    EXPECT_EQ("2 2 0 0 1", counts());
    // The load of C begins before the capture, and leaves no room for A.
    fake_backend_calls().fail("synchronize", CALOTYPE_E_CAPTURE, 1, 1000);
    calotype_hold held = hold(context, c);
    EXPECT_EQ("3 3 1 0 1", counts());
    give_back(context, held);
    EXPECT_EQ(2u, stats().live_modules);
    is_captured(false);
    run(context, c);
    EXPECT_EQ("3 3 1 0 2", counts());
    EXPECT_EQ(2u, stats().evictions);
}

/// A capture that only the driver knows of: nothing is unloaded, and all works as before.
TEST_P(FakeCache, NothingGoesWhileTheDriverRefusesToWait) {
    void *context = driver->make_context();
    const TestLinkable a("a");
    const auto *m = module("m", {&a});
    run(context, m);
    const auto refused = [&](calotype_status status) {
        EXPECT_EQ(CALOTYPE_E_CAPTURE, status);
        EXPECT_EQ(CALOTYPE_E_CAPTURE, calotype_last_error()->status);
        EXPECT_EQ("1 1 1 0 0", counts());
        EXPECT_EQ(0u, stats().evictions);
        run(context, m);
    };
    fake_backend_calls().fail("synchronize", CALOTYPE_E_CAPTURE, 1, 1000);
    refused(calotype_evict(on(context), m, 0));
    refused(calotype_evict(on(context), m, CALOTYPE_EVICT_IMAGE_TOO));
    uint64_t freed = 7;
    refused(calotype_trim(on(context), 0, &freed));
    EXPECT_EQ(0u, freed);
    for (auto policy : {CALOTYPE_REL_BUSY, CALOTYPE_REL_WAIT, CALOTYPE_REL_FORCE}) {
        refused(calotype_release_context(on(context), policy, 100));
    }
    EXPECT_STREQ("a context cannot be released while its stream is captured",
                 calotype_last_error()->log);
    refused(calotype_shutdown(100));
    EXPECT_EQ(CALOTYPE_OK, calotype_evict(on(context), m, CALOTYPE_EVICT_DEFER));
    EXPECT_EQ("1 1 1 0 0", counts());
    fake_backend_calls().fail("synchronize", 0, 1, 0);
    run(context, m);
    EXPECT_EQ("1 1 1 1 1", counts());
}

TEST_P(FakeCache, LaunchesBeyondLimits) {
    void *context = driver->make_context();
    auto *m = module("m");
    modules.back()->kernels[0].max_threads = 256;
    calotype_hold held = hold(context, m);
    const uint32_t one[3] = {1, 1, 1}, large[3] = {32, 16, 1}, empty[3] = {1, 0, 1};
    EXPECT_EQ(CALOTYPE_E_LAUNCH,
              calotype_launch(context, held, 0, one, large, 64, nullptr, nullptr));
    EXPECT_STREQ("kernel k0, grid 1 x 1 x 1, block 32 x 16 x 1, 64 bytes of dynamic shared memory: "
                 "512 threads a block, the kernel was compiled for at most 256",
                 calotype_last_error()->log);
    EXPECT_EQ(CALOTYPE_E_LAUNCH,
              calotype_launch(context, held, 0, empty, one, 0, nullptr, nullptr));
    EXPECT_EQ(CALOTYPE_E_INVALID, calotype_launch(context, held, 1, one, one, 0, nullptr, nullptr));
    EXPECT_STREQ("kernel number 1, there are 1", calotype_last_error()->log);
    EXPECT_EQ(CALOTYPE_E_INVALID,
              calotype_launch(context, calotype_hold{}, 0, one, one, 0, nullptr, nullptr));
    give_back(context, held);
}

TEST_P(FakeCache, WhatGeneratedCodeCalls) {
    void *context = driver->make_context();
    const auto *m = module("m"), *broken = module("broken", {}, {"", false, true});
    const auto before =
        calotype_set_error_handler([](void *, const char *message) { reported = message; });
    calotype_hold held;
    calls += 2;
    EXPECT_EQ(calotype_error_code_gpu_device_error, calotype_begin_kernels(context, broken, &held));
    EXPECT_EQ("device code of broken: compiling failed: device code does not compile: line 1: "
              "syntax error",
              reported);
    EXPECT_EQ(0, calotype_begin_kernels(context, m, &held));
    const int32_t good[7] = {1, 1, 1, 32, 1, 1, 0}, none[7] = {1, 0, 1, 32, 1, 1, 0},
                  negative[7] = {1, 1, -3, 32, 1, 1, 0}, large[7] = {1, 1, 1, 32, 32, 2, 0};
    EXPECT_EQ(0, calotype_run_kernel(context, &held, 0, good, nullptr));
    EXPECT_EQ(0, calotype_run_kernel(context, &held, 0, none, nullptr));
    EXPECT_EQ(1u, fake_backend_calls().count("launch"));
    EXPECT_EQ(calotype_error_code_device_run_failed,
              calotype_run_kernel(context, &held, 0, negative, nullptr));
    EXPECT_EQ("device code of m: launching failed: the kernel cannot be launched: kernel k0: grid "
              "z is -3, must not be negative",
              reported);
    EXPECT_EQ(calotype_error_code_device_run_failed,
              calotype_run_kernel(context, &held, 0, large, nullptr));
    EXPECT_EQ("device code of m: launching failed: the kernel cannot be launched: kernel k0, grid "
              "1 x 1 x 1, block 32 x 32 x 2, 0 bytes of dynamic shared memory: the device has at "
              "most 1024 threads a block",
              reported);
    calotype_end_kernels(context, &held);
    calotype_end_kernels(context, &held);  // as after a begin that failed
    EXPECT_EQ(0u, stats().misuse);
    calotype_set_error_handler(before);
}

TEST_P(FakeCache, ErrorsOfDescriptors) {
    void *context = driver->make_context();
    calotype_hold held;
    TestLinkable a("a"), b("b");
    const uint16_t one = 1, zero = 0;
    a.desc.after = &one;
    b.desc.after = &zero;
    a.desc.n_after = b.desc.n_after = 1;
    EXPECT_EQ(CALOTYPE_E_INVALID, try_hold(context, module("circle", {&a, &b}), &held));
    EXPECT_STREQ("linkables are to be set up after each other in a circle; one of them is b",
                 calotype_last_error()->log);
}

TEST_P(FakeCache, CompileHook) {
    void *context = driver->make_context();
    const calotype_compile_fn hook = [](void *self, const calotype_module_desc *, uint32_t sm, char,
                                        void **image, size_t *size, char **) {
        *static_cast<uint32_t *>(self) = sm;
        *image = strdup("kernel k0");
        *size = 9;
        return CALOTYPE_OK;
    };
    uint32_t sm = 0;
    EXPECT_EQ(CALOTYPE_OK, calotype_set_compile_hook(hook, &sm, "mine 1"));
    run(context, module("m", {}, {"", false, true}));
    EXPECT_EQ(90u, sm);
    EXPECT_EQ("1 1 0 0 0", counts());
    EXPECT_EQ(0u, fake_backend_calls().count("build"));
    EXPECT_EQ(CALOTYPE_OK, calotype_set_compile_hook(nullptr, nullptr, nullptr));
    calotype_release_context(on(context), CALOTYPE_REL_BUSY, 0);
    calotype_hold held;
    EXPECT_EQ(CALOTYPE_E_COMPILE, try_hold(context, &modules.back()->desc, &held));
}

/// Whoever asks next gets the same answer, on any thread.
TEST_P(FakeCache, CompileHookThrows) {
    void *context = driver->make_context();
    const auto *m = module("m");
    const calotype_compile_fn hook = [](void *, const calotype_module_desc *, uint32_t, char,
                                        void **, size_t *, char **) -> calotype_status {
        throw 1;
    };
    EXPECT_EQ(CALOTYPE_OK, calotype_set_compile_hook(hook, nullptr, "throws"));
    in_threads(3, [&](int) {
        calotype_hold held;
        EXPECT_EQ(CALOTYPE_E_COMPILE, try_hold(context, m, &held));
        const std::string log = calotype_last_error()->log;
        EXPECT_NE(std::string::npos, log.find("the compile hook threw an exception")) << log;
    });
    EXPECT_EQ(CALOTYPE_OK, calotype_set_compile_hook(nullptr, nullptr, nullptr));
    EXPECT_EQ(1u, stats().compiles);
    EXPECT_EQ(CALOTYPE_OK, calotype_forget(m));
    run(context, m);
}

/// What is loaded as it is waits for no compile step, and is none.
TEST_P(FakeCache, ReadyImagesAreNotCompiled) {
    void *context = driver->make_context();
    const calotype_limits one = {sizeof one, CALOTYPE_POLICY_LRU, 0, 0, 0, 1};
    EXPECT_EQ(CALOTYPE_OK, calotype_set_limits(&one));
    const auto *slow = module("slow");
    const auto *ready = module("ready");
    modules.back()->image.kind = CALOTYPE_CUBIN;
    driver->delay_builds(500);
    std::atomic<bool> is_built{false};
    std::thread thread([&] {
        run(context, slow);
        is_built = true;
    });
    while (fake_backend_calls().count("build") == 0) {
        std::this_thread::yield();
    }
    driver->delay_builds(0);
    static std::vector<calotype_stage> stages;
    stages.clear();
    calotype_set_trace([](void *, const calotype_trace_event *e) { stages.push_back(e->stage); },
                       nullptr);
    run(context, ready);
    calotype_set_trace(nullptr, nullptr);
    EXPECT_FALSE(is_built);
    EXPECT_EQ("0 1 0 0 0", counts());
    EXPECT_EQ(std::vector<calotype_stage>{CALOTYPE_ST_LOAD}, stages);
    thread.join();
    EXPECT_EQ("1 2 0 0 0", counts());
}

/// A store that throws has nothing and keeps nothing.
TEST_P(FakeCache, StoreThrows) {
    void *context = driver->make_context();
    static int thrown;
    static bool has_garbage;
    thrown = 0;
    has_garbage = false;
    static const auto throws = []() -> int {
        throw ++thrown;
    };
    const calotype_store store = {
        sizeof store,
        nullptr,
        [](void *, const calotype_uid *, void **bytes, size_t *size) {
            *bytes = has_garbage ? strdup("garbage") : nullptr;
            *size = 7;
            return has_garbage ? 0 : throws();
        },
        [](void *, const calotype_uid *, const void *, size_t) { return throws(); },
        [](void *, const calotype_uid *) { return throws(); },
        [](void *, void *bytes) {
            free(bytes);
            throws();
        }};
    EXPECT_EQ(CALOTYPE_OK, calotype_set_store(&store));
    run(context, module("m"));
    EXPECT_EQ(2, thrown);  // get, put
    has_garbage = true;
    run(context, module("n"));
    EXPECT_EQ(5, thrown);  // del, free_bytes, put
    EXPECT_EQ(CALOTYPE_OK, calotype_set_store(nullptr));
    EXPECT_EQ(2u, stats().disk_misses);
    EXPECT_EQ(1u, stats().disk_corrupt);
    EXPECT_EQ(0u, stats().disk_writes);
    EXPECT_EQ("2 2 0 0 0", counts());
}

TEST_P(FakeCache, TraceHookThrows) {
    void *context = driver->make_context();
    static int thrown;
    thrown = 0;
    calotype_set_trace([](void *, const calotype_trace_event *) { throw ++thrown; }, nullptr);
    run(context, module("m"));
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(on(context), CALOTYPE_REL_BUSY, 0));
    calotype_set_trace(nullptr, nullptr);
    EXPECT_EQ(3, thrown);  // link, load, unload
    EXPECT_EQ("1 1 0 0 1", counts());
}

TEST_P(FakeCache, LostWhileLoading) {
    TestLinkable a("a");
    void *context = driver->make_context();
    const uint64_t uid = uid_of(context);
    a.on_setup = [&](const calotype_callback_args &) {
        std::thread([&] {
            driver->destroy_context(context);
            EXPECT_EQ(CALOTYPE_OK, calotype_context_lost(uid));
        }).join();
        return 0;
    };
    const calotype_module_desc *m = module("m", {&a});
    calotype_hold held;
    EXPECT_EQ(CALOTYPE_E_CONTEXT_LOST, try_hold(context, m, &held));
    lost_modules = 1;
    EXPECT_EQ("1 1 1 1 0", counts());
    EXPECT_EQ("s:a t:a", call_log().text());
}

/// Nothing is kept for an event of a context that is lost while the event is asked or recorded.
TEST_P(FakeCache, LostBesideStreamHolds) {
    for (const char *slow : {"query_event", "record_event"}) {
        auto *context = static_cast<FakeContext *>(driver->make_context());
        const uint64_t uid = uid_of(context);
        const auto *m = module(slow);
        calotype_hold held = hold(context, m);
        context->stream.is_held = true;
        const bool is_begun = slow[0] == 'q';
        if (is_begun) {
            EXPECT_EQ(CALOTYPE_OK,
                      calotype_finalize_kernels_after(context, &held, &context->stream));
        }
        fake_backend_calls().delay(slow, 50);
        const uint64_t before = fake_backend_calls().count(slow);
        std::thread thread([&] {
            if (is_begun) {
                calotype_evict(on(context), m, 0);
            } else {
                EXPECT_EQ(CALOTYPE_OK,
                          calotype_finalize_kernels_after(context, &held, &context->stream));
            }
        });
        while (fake_backend_calls().count(slow) == before) {
            std::this_thread::yield();
        }
        EXPECT_EQ(CALOTYPE_OK, calotype_context_lost(uid));
        EXPECT_EQ(1u, stats().holds);
        thread.join();
        EXPECT_EQ(0u, stats().holds) << slow;
        fake_backend_calls().delay(slow, 0);
        driver->destroy_context(context);
    }
    lost_modules = 2;
}

/// A child knows nothing of its parent's modules, and leaves them alone.
TEST_P(FakeCache, Fork) {
    const TestLinkable a("a");
    void *context = driver->make_context();
    const auto *m = module("m", {&a});
    calotype_hold held = hold(context, m);
    fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        call_log().clear();
        bool good = calotype_finalize_kernels(context, &held) == CALOTYPE_OK;  // an orphan
        good &= calotype_shutdown(1000) == CALOTYPE_OK && call_log().text().empty();
        void *own = driver->make_context();
        calotype_hold mine;
        good &= calotype_initialize_kernels(own, m, nullptr, &mine) == CALOTYPE_OK;
        good &= calotype_finalize_kernels(own, &mine) == CALOTYPE_OK;
        good &= calotype_shutdown(1000) == CALOTYPE_OK && call_log().text() == "s:a t:a";
        _exit(good ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(child, waitpid(child, &status, 0));
    EXPECT_EQ(0, status);
    give_back(context, held);
    run(context, m);
    EXPECT_EQ("1 1 1 0 0", counts());
}

/// What is loaded as the process ends is torn down once, and told so.
// G1.
TEST_P(FakeCache, Exit) {
    int ends[2];
    ASSERT_EQ(0, pipe(ends));
    fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        TestLinkable a("a");
        a.on_teardown = [&](const calotype_callback_args &args) {
            const char reason = char('0' + int(args.reason));
            return write(ends[1], &reason, 1) == 1 ? 0 : 1;
        };
        run(driver->make_context(), module("m", {&a}));
        exit(0);
    }
    close(ends[1]);
    char reasons[2] = {};
    EXPECT_EQ(1, read(ends[0], reasons, 1));
    EXPECT_EQ('0' + int(CALOTYPE_R_EXIT), reasons[0]);
    EXPECT_EQ(0, read(ends[0], reasons, 1));
    close(ends[0]);
    int status = -1;
    ASSERT_EQ(child, waitpid(child, &status, 0));
    EXPECT_EQ(0, status);
}

/// Records of contexts that have gone serve later ones, once the cache has been told.
TEST_P(FakeCache, ManyContextsOneAfterTheOther) {
    const TestLinkable a("a");
    const auto *m = module("m", {&a});
    constexpr int n = 1000;
    std::vector<uint64_t> uids;
    const uint32_t before = calotype::runtime::kernel_cache.n_contexts;
    for (int i = 0; i < n; i++) {
        void *context = driver->make_context();
        const uint64_t uid = uid_of(context);
        uids.push_back(uid);
        calotype_hold held = hold(context, m);
        driver->destroy_context(context);
        EXPECT_EQ(CALOTYPE_OK, calotype_context_lost(uid));
        EXPECT_EQ(CALOTYPE_OK, calotype_finalize_kernels(nullptr, &held));
        EXPECT_LE(calotype::runtime::kernel_cache.n_contexts,
                  2 * before + calotype::runtime::few_contexts + 2);
    }
    for (uint64_t uid : uids) {
        EXPECT_EQ(CALOTYPE_OK, calotype_context_lost(uid));
    }
    lost_modules = n;
    EXPECT_EQ("1 1000 1000 1000 0", counts());
    EXPECT_EQ(0u, stats().live_modules);
}

/// While their records serve others, all contexts that are there get the limits: with their next
/// call, since nobody has named them.
TEST_P(FakeCache, LimitsBesideContextsThatComeAndGo) {
    const auto *m = module("m"), *n = module("n");
    void *context = driver->make_context();
    run(context, m);
    run(context, n);
    constexpr int rounds = 100;  // more than few_contexts
    std::atomic<bool> done{false};
    in_threads(2, [&](int thread) {
        for (int i = 0; thread == 0 && i < rounds; i++) {
            void *other = driver->make_context();
            const uint64_t uid = uid_of(other);
            run(other, m);
            driver->destroy_context(other);
            EXPECT_EQ(CALOTYPE_OK, calotype_context_lost(uid));
        }
        if (thread == 0) {
            done = true;
        }
        while (!done) {
            const calotype_limits two = {sizeof two, CALOTYPE_POLICY_LRU, 0, 2, 0, 0};
            EXPECT_EQ(CALOTYPE_OK, calotype_set_limits(&two));
        }
    });
    EXPECT_EQ(0u, stats().unloads);
    const calotype_limits one = {sizeof one, CALOTYPE_POLICY_LRU, 0, 1, 0, 0};
    EXPECT_EQ(CALOTYPE_OK, calotype_set_limits(&one));
    EXPECT_EQ(0u, stats().unloads);
    run(context, n);
    EXPECT_EQ(1u, stats().unloads);
    lost_modules = rounds;
}

/// The same hold given back on two threads at the same time can go unnoticed, but only until its
/// thread holds the module again.
TEST_P(FakeCache, OverdrawnCountsAreSettled) {
    void *context = driver->make_context();
    const auto *m = module("m");
    run(context, m);
    calotype_hold held = hold(context, m);
    auto *entry = held.entry;
    give_back(context, held);
    calotype::runtime::known_thread->cell(entry->index)->released_remotely++;
    EXPECT_EQ(0u, stats().holds);
    held = hold(context, m);
    EXPECT_EQ(1u, stats().misuse);
    EXPECT_EQ(1u, stats().holds);
    EXPECT_EQ(CALOTYPE_E_BUSY, calotype_evict(on(context), m, 0));
    give_back(context, held);
    EXPECT_EQ(CALOTYPE_OK, calotype_evict(on(context), m, 0));
}

/// Where the system has no barriers for all threads at once, each pays for its own.
TEST_P(FakeCache, EvenBarriers) {
    const bool were_asymmetric = calotype::runtime::fences_are_asymmetric;
    calotype::runtime::choose_fences(false);
    void *context = driver->make_context();
    const auto *m = module("m");
    in_threads(4, [&](int thread) {
        for (int i = 0; i < 500; i++) {
            run(context, m);
            if (thread == 0) {
                calotype_evict(on(context), m, 0);
            }
        }
    });
    calotype::runtime::choose_fences(were_asymmetric);
}

/// Holds come and go on some threads while another evicts: none is lost.
TEST_P(FakeCache, EvictionBesideWarmHolds) {
    void *context = driver->make_context();
    const auto *m = module("m");
    std::atomic<bool> done{false};
    in_threads(4, [&](int thread) {
        for (int i = 0; thread == 0 && i < 2000; i++) {
            const calotype_status status = calotype_evict(on(context), m, 0);
            EXPECT_TRUE(status == CALOTYPE_OK || status == CALOTYPE_E_BUSY);
        }
        if (thread == 0) {
            done = true;
        }
        while (!done) {
            run(context, m);
        }
    });
}

/// A library whose teardown callback is due stays in memory until it has run.
TEST_P(FakeCache, LibraryClosedWhileLoaded) {
    has_teardown_for_each_setup = false;
    void *library = dlopen(CACHE_PLUGIN, RTLD_NOW);
    ASSERT_NE(nullptr, library) << dlerror();
    int teardowns = 0;
    TestLinkable a("a", false, false);
    a.desc.teardown = reinterpret_cast<calotype_module_callback>(dlsym(library, "plugin_teardown"));
    a.desc.user = &teardowns;
    ASSERT_NE(nullptr, a.desc.teardown);
    void *context = driver->make_context();
    run(context, module("m", {&a}));
    modules.clear();  // the descriptor goes as well
    dlclose(library);
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(on(context), CALOTYPE_REL_BUSY, 0));
    EXPECT_EQ(1, teardowns);
    EXPECT_EQ(nullptr, dlopen(CACHE_PLUGIN, RTLD_NOW | RTLD_NOLOAD));
}

/// The cheapest to make again goes first.
TEST_P(FakeCache, EvictionByCost) {
    void *context = driver->make_context();
    const calotype_limits limits = {sizeof limits, CALOTYPE_POLICY_COST, 0, 2, 0, 0};
    EXPECT_EQ(CALOTYPE_OK, calotype_set_limits(&limits));
    const auto *dear = module("A"), *cheap = module("B"), *third = module("C");
    driver->delay_builds(20);
    run(context, dear);
    driver->delay_builds(0);
    run(context, cheap);
    driver->delay_builds(5);
    run(context, third);
    driver->delay_builds(0);
    run(context, dear);
    run(context, third);
    EXPECT_EQ(2u, stats().hits);
    EXPECT_EQ("3 3 0 0 1", counts());
}

/// What costs nothing to make again, as images of the object, goes by its last use.
TEST_P(FakeCache, EvictionByCostOfWhatCostsNothing) {
    void *context = driver->make_context();
    const calotype_limits limits = {sizeof limits, CALOTYPE_POLICY_COST, 0, 3, 0, 0};
    EXPECT_EQ(CALOTYPE_OK, calotype_set_limits(&limits));
    std::vector<const calotype_module_desc *> all;
    for (const char *name : {"A", "B", "C", "D"}) {
        all.push_back(module(name));
        modules.back()->image.kind = CALOTYPE_CUBIN;
    }
    for (int used : {0, 1, 2, 2, 0, 3}) {
        run(context, all[size_t(used)]);
    }
    EXPECT_EQ(1u, stats().unloads);
    for (int there : {0, 2, 3}) {
        run(context, all[size_t(there)]);
    }
    EXPECT_EQ("0 4 0 0 1", counts());  // B went
}

/// An image that comes from the store costs what it cost to make it.
TEST_P(FakeCache, EvictionByCostOfStoredImages) {
    const Folder store;
    EXPECT_EQ(CALOTYPE_OK, calotype_set_store_dir((store.path + "/kernels").c_str(), 1 << 20, 0));
    void *context = driver->make_context();
    const auto *dear = module("A"), *cheap = module("B"), *third = module("C");
    for (const auto *m : {dear, cheap}) {
        driver->delay_builds(m == dear ? 50 : 0);
        run(context, m);
        EXPECT_EQ(CALOTYPE_OK, calotype_evict(on(context), m, CALOTYPE_EVICT_IMAGE_TOO));
    }
    const calotype_limits limits = {sizeof limits, CALOTYPE_POLICY_COST, 0, 2, 0, 0};
    EXPECT_EQ(CALOTYPE_OK, calotype_set_limits(&limits));
    driver->delay_builds(20);
    for (const auto *m : {dear, cheap, third, dear, third}) {
        run(context, m);
    }
    EXPECT_EQ(2u, stats().disk_hits);
    EXPECT_EQ(2u, stats().hits);
    EXPECT_EQ("3 5 0 0 3", counts());
    calotype_set_store_dir(nullptr, 0, CALOTYPE_STORE_OFF);
}

TEST_P(FakeCache, Trace) {
    void *context = driver->make_context();
    static std::vector<calotype_stage> stages;
    stages.clear();
    calotype_set_trace(
        [](void *, const calotype_trace_event *event) {
            EXPECT_LE(event->begin_ns, event->end_ns);
            stages.push_back(event->stage);
        },
        nullptr);
    const TestLinkable a("a");
    run(context, module("m", {&a}));
    calotype_release_context(on(context), CALOTYPE_REL_BUSY, 0);
    calotype_set_trace(nullptr, nullptr);
    const std::vector<calotype_stage> expected = {CALOTYPE_ST_LINK, CALOTYPE_ST_LOAD,
                                                  CALOTYPE_ST_SETUP, CALOTYPE_ST_TEARDOWN,
                                                  CALOTYPE_ST_UNLOAD};
    EXPECT_EQ(expected, stages);
}

/// Two kinds of devices in one cache; contexts have their own identities.
TEST_P(FakeCache, TwoBackEnds) {
    void *one = driver->make_context(), *two = driver->make_context();
    calotype_module_desc other = *module("m");
    run(one, &modules.back()->desc);
    other.device_interface = other_fake_backend_interface;
    run(two, &other);
    EXPECT_EQ(2u, stats().loads);
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(on(one), CALOTYPE_REL_BUSY, 0));
    EXPECT_EQ(1u, stats().live_modules);
}

INSTANTIATE_TEST_SUITE_P(FakeBackend, FakeCache, ::testing::Values(make_fake_backend_driver));

}  // namespace calotype_test
