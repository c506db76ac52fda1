// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// calotype::Tools::benchmark(): how long a call takes, as the best of many. Header only, C++17.
//
//     double seconds = benchmark([&] { blur(input, output); });
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <vector>

namespace calotype {
namespace Tools {

using BenchmarkClock = std::chrono::steady_clock;

inline BenchmarkClock::time_point benchmark_now() {
    return BenchmarkClock::now();
}

inline double benchmark_duration_seconds(BenchmarkClock::time_point start,
                                         BenchmarkClock::time_point end) {
    return std::chrono::duration<double>(end - start).count();
}

/** Seconds for one call: the best of `samples` measurements of `iterations` calls each. */
template<typename Op>
double benchmark(uint64_t samples, uint64_t iterations, Op &&op) {
    double best = std::numeric_limits<double>::infinity();
    for (uint64_t i = 0; i < samples; i++) {
        const auto start = benchmark_now();
        for (uint64_t j = 0; j < iterations; j++) {
            op();
        }
        best = std::min(best, benchmark_duration_seconds(start, benchmark_now()));
    }
    return best / double(iterations);
}

/** How long to measure. */
struct BenchmarkConfig {
    /** Seconds to spend at least ... */
    double min_time = 0.1;
    /** ... and, beyond finishing the first samples, at most. */
    double max_time = 4 * 0.1;
    uint64_t max_iters_per_sample = 1000000;
    /** Stop when the third best sample is within this fraction of the best. */
    double accuracy = 0.03;
};

/** What was measured. Converts to the seconds of one call. */
struct BenchmarkResult {
    /** Seconds for one call, in the best sample. */
    double wall_time;
    uint64_t samples;
    /** Calls in all samples together. */
    uint64_t iterations;
    /** By how much the third best sample is worse, as a fraction. */
    double accuracy;

    operator double() const {
        return wall_time;
    }
};

/** Measure `op` until the result is stable or the time is up. Calls it once before. */
template<typename Op>
BenchmarkResult benchmark(Op &&op, const BenchmarkConfig &config = {}) {
    constexpr size_t compared = 3;
    op();  // caches, lazily made threads and pages are not what is measured

    // As many calls a sample as make it long against the clock's resolution.
    const double shortest_sample = std::max(config.min_time / 10, 1e-6);
    uint64_t iterations = 1;
    double sample = benchmark(1, iterations, op);
    double total = sample;
    while (sample * double(iterations) < shortest_sample &&
           iterations < config.max_iters_per_sample && total < config.max_time) {
        const double wanted = shortest_sample / std::max(sample, 1e-9);
        const uint64_t more = std::max<uint64_t>(iterations * 2, uint64_t(wanted));
        iterations = std::min(more, config.max_iters_per_sample);
        sample = benchmark(1, iterations, op);
        total += sample * double(iterations);
    }

    std::vector<double> best{sample};
    uint64_t samples = 1;
    auto spread = [&] {
        return best.back() / best.front() - 1;
    };
    while (samples < compared || total < config.min_time ||
           (spread() > config.accuracy && total < config.max_time)) {
        sample = benchmark(1, iterations, op);
        total += sample * double(iterations);
        samples++;
        best.insert(std::upper_bound(best.begin(), best.end(), sample), sample);
        best.resize(std::min(best.size(), compared));
    }
    return {best.front(), samples, samples * iterations, spread()};
}

}  // namespace Tools
}  // namespace calotype
