// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bench_gpu FILE: what the kernel cache and a warm call cost beside raw launches in the same run.
// Prints one JSON object, also to FILE.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>

#include "runtime/abi/device_context.h"
#include "runtime/abi/kernel_cache.h"
#include "runtime/abi/runtime_cuda.h"

namespace {

const char ptx[] = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry nothing() { ret; }
)";

double now_ns() {
    using namespace std::chrono;
    return double(duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count());
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
               get(stream_create, "cuStreamCreate") && get(stream_sync, "cuStreamSynchronize");
    }
};

/** Module of one kernel that does nothing. */
struct Nothing {
    calotype_image image = {CALOTYPE_PTX, 70, 0, ptx, sizeof ptx - 1};
    calotype_kernel_desc kernel = {"nothing", nullptr, 0, 0, 0, 0};
    calotype_module_desc desc = {};
    Nothing() {
        desc.size = sizeof desc;
        desc.abi = CALOTYPE_ABI_VERSION;
        desc.name = "nothing";
        desc.uid.b[0] = 0x6e;
        desc.device_interface = calotype_cuda_device_interface;
        desc.images = &image;
        desc.n_images = 1;
        desc.kernels = &kernel;
        desc.n_kernels = 1;
        desc.opt_level = 3;
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

/** Calls a second of f(thread, i) on that many threads, which start together. */
template<typename F>
double throughput(int threads, int calls, F f) {
    std::atomic<int> ready{0};
    std::atomic<bool> go{false};
    std::vector<std::thread> all;
    for (int t = 0; t < threads; t++) {
        all.emplace_back([&, t] {
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

struct Bench {
    Driver driver;
    Nothing module;
    void *context = nullptr, *function = nullptr;
    std::vector<void *> streams;
    Json json;
    std::atomic<int> failures{0};

    bool start() {
        void *loaded = nullptr;
        bool ok = driver.open() && driver.init(0) == 0 && driver.retain(&context, 0) == 0 &&
                  driver.set_current(context) == 0 && driver.load(&loaded, ptx) == 0 &&
                  driver.function(&function, loaded, "nothing") == 0;
        streams.resize(16);
        for (void *&stream : streams) {
            ok = ok && driver.stream_create(&stream, 1) == 0;
        }
        return ok;
    }
    /** Without a write to what other threads write to, unless something fails. */
    void expect_ok(int code) {
        if (code != 0) {
            failures++;
        }
    }
    void hold_and_release(int threads) {
        const double rate = throughput(threads, 2000000, [&](int, int) {
            calotype_hold hold;
            expect_ok(calotype_initialize_kernels(nullptr, &module.desc, nullptr, &hold));
            expect_ok(calotype_finalize_kernels(nullptr, &hold));
        });
        const std::string suffix = "_" + std::to_string(threads);
        json.add("hold_and_release_M_per_s" + suffix, rate / 1e6);
        json.add("hold_and_release_ns" + suffix, 1e9 * threads / rate);
    }
    void raw(int threads, bool own_stream) {
        const double rate = throughput(threads, 50000, [&](int t, int i) {
            void *stream = streams[own_stream ? size_t(t) : 0];
            if (i < 0) {
                expect_ok(driver.set_current(context));
            }
            expect_ok(driver.launch(function, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr));
            if (i == 49999) {
                driver.stream_sync(stream);
            }
        });
        json.add(name("raw_launch_M_per_s", threads, own_stream), rate / 1e6);
    }
    void call(int threads, bool own_stream) {
        const double rate = throughput(threads, 50000, [&](int t, int i) {
            void *stream = streams[own_stream ? size_t(t) : 0];
            calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, stream);
            const int32_t shape[7] = {1, 1, 1, 1, 1, 1, 0};
            calotype_hold hold;
            expect_ok(calotype_begin_kernels(&on, &module.desc, &hold));
            expect_ok(calotype_run_kernel(&on, &hold, 0, shape, nullptr));
            calotype_end_kernels(&on, &hold);
            if (i < 0) {
                driver.set_current(context);
            } else if (i == 49999) {
                driver.stream_sync(stream);
            }
        });
        json.add(name("call_M_per_s", threads, own_stream), rate / 1e6);
    }
    static std::string name(const char *what, int threads, bool own_stream) {
        return std::string(what) + (own_stream ? "_stream_each_" : "_one_stream_") +
               std::to_string(threads);
    }
};

}  // namespace

int main(int argc, char **argv) {
    Bench bench;
    if (!bench.start()) {
        fprintf(stderr, "no CUDA device\n");
        return 1;
    }
    for (int threads : {1, 4, 8, 16}) {
        bench.hold_and_release(threads);
    }
    for (bool own_stream : {false, true}) {
        for (int threads : {1, 4, 8, 16}) {
            bench.raw(threads, own_stream);
            bench.call(threads, own_stream);
        }
    }
    bench.json.add("failures", bench.failures);
    bench.json.write(argc > 1 ? argv[1] : nullptr);
    return bench.failures ? 1 : 0;
}
