// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the application says to the library, and asks of it.
#pragma once

#include <cstdint>
#include <vector>

extern "C" {
/// The user symbol of the linkable: what both callbacks are handed. Filled before the pipeline
/// runs.
struct GrainPlan {
    int pixels;
    uint64_t seed;
};
extern GrainPlan grain_plan;

/// How often the callbacks ran.
struct GrainCalls {
    int setups, teardowns;
};
GrainCalls grain_calls();

/// The processor's half: the next number of a pixel. grain_begin() comes first.
float grain_next(int pixel);
}

/// Lets every pixel's sequence on the processor begin anew.
void grain_begin();
