// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <cstdint>

#include <calotype/buffer.h>

#include "side_by_side.h"
#include "unsharp.h"

extern "C" int unsharp_halide(calotype_buffer_t *input, calotype_buffer_t *output);

int main() {
    calotype::Runtime::Buffer<float, 3> input(2560, 1600, 3), ours(2560, 1600, 3),
        theirs(2560, 1600, 3);
    uint32_t state = 1;
    input.for_each_value(
        [&](auto &v) { v = float(1 + ((state = state * 1664525u + 1013904223u) >> 20)); });
    side_by_side(
        "unsharp", [&] { unsharp(input, ours); }, [&] { unsharp_halide(input, theirs); });
    size_t differ = 0;
    ours.for_each_element([&](int x, int y, int c) {
        differ += std::abs(double(ours(x, y, c)) - double(theirs(x, y, c))) >
                  0.01 + 1e-3 * std::abs(double(theirs(x, y, c)));
    });
    std::fprintf(stderr, "unsharp: %zu values differ\n", differ);
    return differ ? 1 : 0;
}
