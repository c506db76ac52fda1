// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The library's half on the processor, called by the pipeline where there is no GPU.
#include "grain.h"
#include "philox.h"

GrainPlan grain_plan = {0, 0};

namespace {

/// How many numbers each pixel has drawn. No two threads work on one pixel.
std::vector<uint32_t> drawn;

}  // namespace

void grain_begin() {
    drawn.assign(size_t(grain_plan.pixels), 0);
}

extern "C" float grain_next(int pixel) {
    return Philox::normal(grain_plan.seed, uint64_t(pixel), drawn[size_t(pixel)]++);
}
