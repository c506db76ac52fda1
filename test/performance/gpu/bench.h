// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the parts of bench_gpu share: the driver, a kernel that does nothing, the figures.
#pragma once

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>

#include "harness/nothing_module.h"
#include "runtime/abi/device_context.h"
#include "runtime/abi/kernel_cache.h"
#include "runtime/abi/runtime_cuda.h"

namespace calotype_bench {

inline double now_ns() {
    using namespace std::chrono;
    return double(duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count());
}

/** One processor of each core, and then the others of the same cores in the same order; empty where
 * the system does not tell. */
std::vector<int> processors_by_core();
void run_on(int processor);

/** Calls a second of f(thread, i) on that many threads, which start together; each on its processor
 * where there are any. */
template<typename F>
double throughput(int threads, int calls, F f, const std::vector<int> &processors = {}) {
    std::atomic<int> ready{0};
    std::atomic<bool> go{false};
    std::vector<std::thread> all;
    for (int t = 0; t < threads; t++) {
        all.emplace_back([&, t] {
            if (size_t(t) < processors.size()) {
                run_on(processors[size_t(t)]);
            }
            f(t, -1);
            ready++;
            while (!go) {
            }
            for (int i = 0; i < calls; i++) {
                f(t, i);
            }
        });
    }
    while (ready < threads) {
    }
    const double begin = now_ns();
    go = true;
    for (std::thread &thread : all) {
        thread.join();
    }
    return double(threads) * calls / (now_ns() - begin) * 1e9;
}

/** How long f(thread, which) takes, in ns, on all threads together, of each `which` in each round.
 * The threads stay the same, and the first is the next to be measured in each following round. */
template<typename F>
std::vector<std::vector<double>> in_turns(int threads, int rounds, int contenders, F f) {
    const std::vector<double> none(static_cast<size_t>(rounds));
    std::vector<std::vector<double>> times(static_cast<size_t>(contenders), none);
    std::barrier together(threads);
    std::vector<std::thread> all;
    for (int t = 0; t < threads; t++) {
        all.emplace_back([&, t] {
            for (int step = -contenders; step < rounds * contenders; step++) {
                const int round = step < 0 ? -1 : step / contenders;
                const int which = (step + contenders + round + 1) % contenders;
                together.arrive_and_wait();
                const double begin = now_ns();
                f(t, which);
                together.arrive_and_wait();
                if (t == 0 && round >= 0) {
                    times[size_t(which)][size_t(round)] = now_ns() - begin;
                }
            }
        });
    }
    for (std::thread &thread : all) {
        thread.join();
    }
    return times;
}

/** The functions of the driver that raw launches need. */
struct Driver {
    int (*init)(unsigned);
    int (*retain)(void **, int);
    int (*set_current)(void *);
    int (*load)(void **, const void *);
    int (*function)(void **, void *, const char *);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                  void *, void **, void **);
    int (*stream_create)(void **, unsigned);
    int (*stream_sync)(void *);
    int (*alloc)(uint64_t *, size_t);
    int (*free)(uint64_t);
    int (*ctx_create)(void **, unsigned, int);
    int (*ctx_pop)(void **);
    int (*ctx_destroy)(void *);
    int (*ctx_push)(void *);
    int (*get_current)(void **);
    int (*get_id)(void *, unsigned long long *);
    int (*is_capturing)(void *, int *);

    bool open() {
        void *library = dlopen("libcuda.so.1", RTLD_NOW);
        const auto get = [&](auto &to, const char *name) {
            to = reinterpret_cast<std::decay_t<decltype(to)>>(library ? dlsym(library, name)
                                                                      : nullptr);
            return to != nullptr;
        };
        return get(init, "cuInit") && get(retain, "cuDevicePrimaryCtxRetain") &&
               get(set_current, "cuCtxSetCurrent") && get(load, "cuModuleLoadData") &&
               get(function, "cuModuleGetFunction") && get(launch, "cuLaunchKernel") &&
               get(stream_create, "cuStreamCreate") && get(stream_sync, "cuStreamSynchronize") &&
               get(alloc, "cuMemAlloc_v2") && get(free, "cuMemFree_v2") &&
               get(ctx_create, "cuCtxCreate_v2") && get(ctx_pop, "cuCtxPopCurrent_v2") &&
               get(ctx_destroy, "cuCtxDestroy_v2") && get(ctx_push, "cuCtxPushCurrent_v2") &&
               get(get_current, "cuCtxGetCurrent") && get(get_id, "cuCtxGetId") &&
               get(is_capturing, "cuStreamIsCapturing");
    }
};

class Json {
    std::string text;

public:
    void add(const std::string &name, double value) {
        char number[64];
        snprintf(number, sizeof number, "%.6g", value);
        text += (text.empty() ? "{\n  \"" : ",\n  \"") + name + "\": " + number;
    }
    void write(const char *path) {
        text += "\n}\n";
        fputs(text.c_str(), stdout);
        if (FILE *file = path ? fopen(path, "w") : nullptr) {
            fputs(text.c_str(), file);
            fclose(file);
        }
    }
};

struct Bench {
    Driver driver;
    calotype_test::NothingModule module;
    void *context = nullptr, *function = nullptr;
    std::vector<void *> streams;
    Json json;
    std::atomic<int> failures{0};

    bool start();
    /** Without a write to what other threads write to, unless something fails. */
    void expect_ok(int code) {
        if (code != 0) {
            failures++;
        }
    }
    /** What generated code does without a launch. */
    void pair(void *user_context) {
        calotype_hold hold;
        expect_ok(calotype_initialize_kernels(user_context, &module.desc, nullptr, &hold));
        expect_ok(calotype_finalize_kernels(user_context, &hold));
    }
    void hold_and_release(int threads);
    void attribute_driver();
    void attribute_machine();
    void pairs_by_core();
    void attribute_call(int threads);
    void launches(int threads, bool own_stream);
    void copy_bandwidth();
    void pipeline();
    void generated_pipeline();
    void compiles_overlap();
    void warm_disk();
    void links_scale();
    static calotype_stats stats() {
        calotype_stats s = {};
        s.size = sizeof s;
        calotype_get_stats(0, &s);
        return s;
    }
    void launch_beside_compile();
    void beside_compile(const std::string &name, int number, const std::function<void()> &f);
    void launch_after_prefetch();
};

}  // namespace calotype_bench
