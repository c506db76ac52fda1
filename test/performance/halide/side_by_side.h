// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times two functions in turns and prints both as one line of JSON.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

/// Milliseconds of one call.
template<typename F>
double time_once(F &&f) {
    auto start = std::chrono::steady_clock::now();
    f();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
}

/// Rounds of one run each, alternating, after a warm-up; medians and minima of a call, of which a
/// run makes `calls`.
template<typename A, typename B>
void side_by_side(const char *name, A &&calotype, B &&halide, int rounds = 40, int calls = 1) {
    std::vector<double> a, b;
    for (int i = 0; i < rounds + 3; i++) {
        double ta = time_once(calotype), tb = time_once(halide);
        if (i >= 3) {
            a.push_back(ta / calls);
            b.push_back(tb / calls);
        }
    }
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    std::printf(
        "{\"app\": \"%s\", \"calotype_ms\": %.4f, \"halide_ms\": %.4f, \"calotype_min_ms\": %.4f, "
        "\"halide_min_ms\": %.4f}\n",
        name, a[a.size() / 2], b[b.size() / 2], a[0], b[0]);
}
