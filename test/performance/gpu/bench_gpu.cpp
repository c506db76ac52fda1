// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bench_gpu FILE: what the kernel cache and a warm call cost beside raw launches in the same run.
// Prints one JSON object, also to FILE.
#include "performance/gpu/bench.h"

#include <algorithm>
#include <cstdlib>

namespace calotype_bench {

namespace {

/// Of each thread, in one round.
constexpr int n_launches = 10000;

std::string name(const char *what, int threads, bool own_stream) {
    return std::string(what) + (own_stream ? "_stream_each_" : "_one_stream_") +
           std::to_string(threads);
}

}  // namespace

bool Bench::start() {
    void *loaded = nullptr;
    bool ok = driver.open() && driver.init(0) == 0 && driver.retain(&context, 0) == 0 &&
              driver.set_current(context) == 0 && driver.load(&loaded, module.ptx) == 0 &&
              driver.function(&function, loaded, "nothing") == 0;
    streams.resize(16);
    for (void *&stream : streams) {
        ok = ok && driver.stream_create(&stream, 1) == 0;
    }
    return ok;
}

/// The best of some rounds: how fast a virtual processor is changes by a factor of two there.
void Bench::hold_and_release(int threads) {
    double rate = 0;
    for (int round = 0; round < 5; round++) {
        const double now = throughput(threads, 1000000, [&](int, int) { pair(nullptr); });
        rate = now > rate ? now : rate;
    }
    const std::string suffix = "_" + std::to_string(threads);
    json.add("hold_and_release_M_per_s" + suffix, rate / 1e6);
    json.add("hold_and_release_ns" + suffix, 1e9 * threads / rate);
}

double Bench::raw(int threads, bool own_stream, bool asks) {
    return throughput(threads, n_launches, [&](int t, int i) {
        void *stream = streams[own_stream ? size_t(t) : 0];
        unsigned long long id = 0;
        if (i < 0) {
            expect_ok(driver.set_current(context));
        }
        if (asks) {
            expect_ok(driver.get_id(context, &id));
        }
        expect_ok(driver.launch(function, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr));
        if (i == n_launches - 1) {
            driver.stream_sync(stream);
        }
    });
}

double Bench::call(int threads, bool own_stream) {
    return throughput(threads, n_launches, [&](int t, int i) {
        void *stream = streams[own_stream ? size_t(t) : 0];
        calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, stream);
        expect_ok(module.call(&on));
        if (i < 0) {
            driver.set_current(context);
        } else if (i == n_launches - 1) {
            driver.stream_sync(stream);
        }
    });
}

/// Raw launches, calls, and launches after a question for the context's identity, in turns: what
/// the driver does with several threads varies more between minutes than any of them costs. Medians
/// of all rounds, and of the ratios of what was done right after each other.
void Bench::launches(int threads, bool own_stream) {
    constexpr int n_rounds = 15;
    std::vector<double> raws, calls, askings, call_ratios, asking_ratios;
    for (int round = 0; round < n_rounds; round++) {
        raws.push_back(raw(threads, own_stream, false));
        calls.push_back(call(threads, own_stream));
        askings.push_back(raw(threads, own_stream, true));
        call_ratios.push_back(calls.back() / raws.back());
        asking_ratios.push_back(askings.back() / raws.back());
    }
    const auto add = [&](const char *what, std::vector<double> &all, double unit) {
        std::sort(all.begin(), all.end());
        json.add(name(what, threads, own_stream), all[n_rounds / 2] / unit);
    };
    add("raw_launch_M_per_s", raws, 1e6);
    add("call_M_per_s", calls, 1e6);
    add("asking_launch_M_per_s", askings, 1e6);
    add("call_of_raw", call_ratios, 1);
    add("asking_of_raw", asking_ratios, 1);
}

}  // namespace calotype_bench

int main(int argc, char **argv) {
    // The driver is to compile what it is given, whoever ran before.
    setenv("CUDA_CACHE_DISABLE", "1", 1);
    calotype_set_store_dir(nullptr, 0, CALOTYPE_STORE_OFF);
    calotype_bench::Bench bench;
    if (!bench.start()) {
        fprintf(stderr, "no CUDA device\n");
        return 1;
    }
    bench.generated_pipeline();
    bench.pipeline();
    bench.copy_bandwidth();
    bench.compiles_overlap();
    bench.links_scale();
    bench.warm_disk();
    bench.launch_beside_compile();
    bench.launch_after_prefetch();
    bench.attribute_driver();
    bench.attribute_machine();
    for (int threads : {1, 4, 8, 16}) {
        bench.hold_and_release(threads);
    }
    for (bool own_stream : {false, true}) {
        for (int threads : {1, 4, 8, 16}) {
            bench.launches(threads, own_stream);
        }
    }
    bench.json.add("failures", bench.failures);
    bench.json.write(argc > 1 ? argv[1] : nullptr);
    return bench.failures ? 1 : 0;
}
