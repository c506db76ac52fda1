// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A server in small: requests of several tenants, each with a context of its own on one GPU, worked
// off by many threads, each with a stream of its own.
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

#include <calotype/buffer.h>
#include <calotype/runtime/abi/device_context.h>
#include <calotype/runtime/abi/kernel_cache.h>

#include "cuda_contexts.h"
#include "tone.h"

using calotype::Runtime::Buffer;

namespace {

constexpr int tenants = 3, workers_a_tenant = 4, requests_a_worker = 200;

/// One request: an image comes in, is worked on, goes out and is looked at.
bool serve(calotype_device_context &where, int number) {
    Buffer<float, 2> in(256, 128), out(256, 128);
    in.fill([&](int x, int y) { return float((x + y + number) % 100) / 100.0f; });
    const float gain = 1.0f + float(number % 7) / 10.0f, offset = -0.05f;
    if (tone(&where, in, gain, offset, out) != 0 || out.copy_to_host(&where) != 0) {
        return false;
    }
    const int x = number % 256, y = number % 128;
    const float expected = std::fmin(std::fmax(in(x, y) * gain + offset, 0.0f), 1.0f);
    const bool good = std::fabs(out(x, y) - expected) < 1e-5f;
    // Device memory is given back in the context and on the stream where it was taken.
    return in.device_free(&where) == 0 && out.device_free(&where) == 0 && good;
}

void work(const CudaContext &context, int worker, std::atomic<int> &failed) {
    calotype_device_context where = CALOTYPE_DEVICE_CONTEXT(context.get(), context.make_stream());
    for (int i = 0; i < requests_a_worker; i++) {
        failed += !serve(where, worker * requests_a_worker + i);
    }
}

/// What the cache did for all contexts together.
calotype_stats statistics() {
    calotype_stats stats = {};
    stats.size = sizeof stats;
    calotype_get_stats(0, &stats);
    return stats;
}

int run() {
    std::vector<std::unique_ptr<CudaContext>> contexts;
    for (int t = 0; t < tenants; t++) {
        contexts.push_back(std::make_unique<CudaContext>());
        if (!contexts.back()->get()) {
            std::printf("multi_context: not run: %s\n", contexts.back()->why().c_str());
            return 0;
        }
    }
    std::atomic<int> failed{0};
    const auto begin = std::chrono::steady_clock::now();
    std::vector<std::thread> workers;
    for (int w = 0; w < tenants * workers_a_tenant; w++) {
        workers.emplace_back([&, w] { work(*contexts[size_t(w % tenants)], w, failed); });
    }
    for (std::thread &worker : workers) {
        worker.join();
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    const int requests = tenants * workers_a_tenant * requests_a_worker;

    // A tenant leaves: its modules are unloaded before its context ends.
    for (const auto &context : contexts) {
        calotype_device_context where = CALOTYPE_DEVICE_CONTEXT(context->get(), nullptr);
        failed += calotype_release_context(&where, CALOTYPE_REL_BUSY, 0) != CALOTYPE_OK;
    }
    const calotype_stats stats = statistics();
    std::printf(
        "multi_context: %d requests of %d threads in %d contexts, %.0f a second, %d failed\n"
        "kernels: %llu loads, %llu unloads, %llu found loaded, %llu held\n",
        requests, tenants * workers_a_tenant, tenants, requests / took.count(), failed.load(),
        (unsigned long long)stats.loads, (unsigned long long)stats.unloads,
        (unsigned long long)stats.hits, (unsigned long long)stats.holds);
    // Each context loads the module once, whatever the number of threads, and unloads it once.
    const bool exact = stats.loads == tenants && stats.unloads == tenants && stats.holds == 0;
    return failed == 0 && exact ? 0 : 1;
}

}  // namespace

int main() {
    return run();
}
