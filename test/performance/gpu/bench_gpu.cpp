// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bench_gpu FILE: what the kernel cache and a warm call cost beside raw launches in the same run.
// Prints one JSON object, also to FILE.
#include "performance/gpu/bench.h"

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

void Bench::hold_and_release(int threads) {
    const double rate = throughput(threads, 2000000, [&](int, int) { pair(nullptr); });
    const std::string suffix = "_" + std::to_string(threads);
    json.add("hold_and_release_M_per_s" + suffix, rate / 1e6);
    json.add("hold_and_release_ns" + suffix, 1e9 * threads / rate);
}

void Bench::raw(int threads, bool own_stream) {
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

void Bench::call(int threads, bool own_stream) {
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
            bench.raw(threads, own_stream);
            bench.call(threads, own_stream);
        }
    }
    bench.json.add("failures", bench.failures);
    bench.json.write(argc > 1 ? argv[1] : nullptr);
    return bench.failures ? 1 : 0;
}
