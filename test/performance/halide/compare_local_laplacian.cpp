// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdint>
#include <cstdlib>

#include <calotype/buffer.h>

#include "local_laplacian.h"
#include "side_by_side.h"

extern "C" int local_laplacian_halide(calotype_buffer_t *input, int levels, float alpha, float beta,
                                      calotype_buffer_t *output);

int main() {
    calotype::Runtime::Buffer<uint16_t, 3> input(1536, 2560, 3), ours(1536, 2560, 3),
        theirs(1536, 2560, 3);
    uint32_t state = 1;
    input.for_each_value(
        [&](auto &v) { v = uint16_t((state = state * 1664525u + 1013904223u) >> 16); });
    const int levels = 8;
    const float alpha = 1.0f / (levels - 1);
    side_by_side(
        "local_laplacian", [&] { local_laplacian(input, levels, alpha, 1.0f, ours); },
        [&] { local_laplacian_halide(input, levels, alpha, 1.0f, theirs); }, 15);
    size_t differ = 0;
    ours.for_each_element([&](int x, int y, int c) {
        differ += std::abs(int(ours(x, y, c)) - int(theirs(x, y, c))) > 64;
    });
    std::fprintf(stderr, "local_laplacian: %zu values differ\n", differ);
    return differ ? 1 : 0;
}
