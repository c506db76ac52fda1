// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a warm call pays for the kernel cache, on the fake back end: initialize and finalize on one
// thread and on many (gate P4), and the slowest ones while another thread compiles (gate P3).
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "harness/fake_backend/fake_backend.h"

using namespace calotype_test;

namespace {

using Clock = std::chrono::steady_clock;

struct Module {
    std::string text;
    calotype_image image = {};
    calotype_kernel_desc kernel = {};
    calotype_module_desc desc = {};

    explicit Module(int number) : text("kernel k0 " + std::to_string(number)) {
        image = {CALOTYPE_PTX, 0, 0, text.c_str(), text.size()};
        kernel.name = "k0";
        desc.size = sizeof desc;
        desc.abi = CALOTYPE_ABI_VERSION;
        desc.name = "m";
        memcpy(desc.uid.b, &number, sizeof number);
        desc.device_interface = fake_backend_interface;
        desc.images = &image;
        desc.n_images = 1;
        desc.kernels = &kernel;
        desc.n_kernels = 1;
    }
};

void pair(FakeContext *context, const Module &module) {
    calotype_hold hold;
    calotype_initialize_kernels(context, &module.desc, nullptr, &hold);
    calotype_finalize_kernels(context, &hold);
}

double ns_a_pair(FakeContext *context, const Module &module, int threads, int pairs) {
    pair(context, module);
    const auto begin = Clock::now();
    std::vector<std::thread> all;
    for (int t = 0; t < threads; t++) {
        all.emplace_back([&] {
            for (int i = 0; i < pairs; i++) {
                pair(context, module);
            }
        });
    }
    for (std::thread &thread : all) {
        thread.join();
    }
    return std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / pairs;
}

/// The time that all but `share` of warm pairs stay below, in ns, while modules are compiled for
/// `ms` each on another thread.
void measure_beside_compiles(FakeContext *context, const Module &module, int ms) {
    fake_backend_calls().delay("build", ms);
    std::atomic<bool> is_done{false};
    std::thread compiler([&] {
        for (int i = 100; i < 110; i++) {
            pair(context, Module(i));
        }
        is_done = true;
    });
    std::vector<double> times;
    while (!is_done) {
        const auto begin = Clock::now();
        pair(context, module);
        times.push_back(std::chrono::duration<double, std::nano>(Clock::now() - begin).count());
    }
    compiler.join();
    std::sort(times.begin(), times.end());
    printf("  \"beside_compiles\": {\"pairs\": %zu, \"p50_ns\": %.0f, \"p99.9_ns\": %.0f, "
           "\"max_ns\": %.0f}\n",
           times.size(), times[times.size() / 2], times[times.size() * 999 / 1000], times.back());
}

}  // namespace

int main() {
    calotype_set_store_dir(nullptr, 0, CALOTYPE_STORE_OFF);
    FakeContext *context = make_fake_context();
    const Module module(1);
    printf("{\n  \"processors\": %u,\n", std::thread::hardware_concurrency());
    for (int threads : {1, 2, 4, 8, 16}) {
        double best = 1e9;
        for (int i = 0; i < 5; i++) {
            best = std::min(best, ns_a_pair(context, module, threads, 1000000));
        }
        printf("  \"pair_ns_%d_threads\": %.1f, \"pairs_per_us_%d_threads\": %.1f,\n", threads,
               best, threads, threads * 1000 / best);
    }
    measure_beside_compiles(context, module, 40);
    printf("}\n");
    return 0;
}
