// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bench_gpu FILE: what the kernel cache and a warm call cost beside raw launches in the same run.
// Prints one JSON object, also to FILE.
#include "performance/gpu/bench.h"

#include <algorithm>
#include <cstdlib>

namespace calotype_bench {

namespace {

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

/// Raw launches, calls, and launches after a question for the context's identity, in turns on the
/// same threads: where those run, and what the driver does with several, varies more than any of
/// them costs. Medians of all rounds, and of the ratios to the raw launches of the same round.
void Bench::launches(int threads, bool own_stream) {
    constexpr int n_rounds = 61, n_launches = 1000;
    const auto raw = [&](void *stream) {
        expect_ok(driver.launch(function, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr));
    };
    const std::vector<std::function<void(void *)>> contenders = {
        raw,
        [&](void *stream) {
            calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, stream);
            expect_ok(module.call(&on));
        },
        [&](void *stream) {
            unsigned long long id = 0;
            expect_ok(driver.get_id(context, &id));
            raw(stream);
        }};
    const auto times = in_turns(threads, n_rounds, int(contenders.size()), [&](int t, int which) {
        void *stream = streams[own_stream ? size_t(t) : 0];
        expect_ok(driver.set_current(context));
        for (int i = 0; i < n_launches; i++) {
            contenders[size_t(which)](stream);
        }
        driver.stream_sync(stream);
    });
    const auto add = [&](const std::string &what, std::vector<double> all) {
        std::sort(all.begin(), all.end());
        json.add(name(what.c_str(), threads, own_stream), all[all.size() / 2]);
    };
    const char *const names[] = {"raw_launch", "call", "asking"};
    for (size_t which = 0; which < contenders.size(); which++) {
        std::vector<double> rates, ratios;
        for (int round = 0; round < n_rounds; round++) {
            const double ns = times[which][size_t(round)];
            rates.push_back(1e3 * threads * n_launches / ns);
            ratios.push_back(times[0][size_t(round)] / ns);
        }
        add(names[which] + std::string("_M_per_s"), rates);
        add(names[which] + std::string("_of_raw"), ratios);
    }
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
    for (int threads : {1, 4}) {
        bench.attribute_call(threads);
    }
    for (int threads : {1, 4, 8, 16}) {
        bench.hold_and_release(threads);
    }
    bench.pairs_by_core();
    for (bool own_stream : {false, true}) {
        for (int threads : {1, 4, 8, 16}) {
            bench.launches(threads, own_stream);
        }
    }
    bench.json.add("failures", bench.failures);
    bench.json.write(argc > 1 ? argv[1] : nullptr);
    return bench.failures ? 1 : 0;
}
