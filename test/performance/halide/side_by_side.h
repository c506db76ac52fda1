// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times functions in turns.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <vector>

/// Milliseconds of one call.
template<typename F>
double time_once(F &&f) {
    auto start = std::chrono::steady_clock::now();
    f();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
}

/// Milliseconds of a call.
struct CallTime {
    double median, least;
};

/// Rounds of one run of each, in turns, after a warm-up; a run makes `calls` calls.
inline std::vector<CallTime> in_turns(const std::vector<std::function<void()>> &runs,
                                      int rounds = 40, int calls = 1) {
    const int warm_up = 3;
    std::vector<std::vector<double>> times(runs.size());
    for (int i = 0; i < rounds + warm_up; i++) {
        for (size_t j = 0; j < runs.size(); j++) {
            const double t = time_once(runs[j]) / calls;
            if (i >= warm_up) {
                times[j].push_back(t);
            }
        }
    }
    std::vector<CallTime> result;
    for (std::vector<double> &t : times) {
        std::sort(t.begin(), t.end());
        result.push_back({t[t.size() / 2], t[0]});
    }
    return result;
}
