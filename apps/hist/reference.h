// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same equalisation in plain C++.
#pragma once

#include "app.h"

inline app::Image<uint8_t> hist_reference(const app::Image<uint8_t> &input) {
    const auto luma = [&](int x, int y) {
        return (77 * input(x, y, 0) + 150 * input(x, y, 1) + 29 * input(x, y, 2)) >> 8;
    };
    uint64_t below[256] = {};
    for (int y = 0; y < input.height(); y++) {
        for (int x = 0; x < input.width(); x++) {
            below[luma(x, y)]++;
        }
    }
    for (int i = 1; i < 256; i++) {
        below[i] += below[i - 1];
    }
    app::Image<uint8_t> output = app::same_size<uint8_t>(input);
    output.for_each_element([&](int x, int y, int c) {
        const int l = luma(x, y), mapped = int(below[l] * 255 / below[255]);
        output(x, y, c) = uint8_t(std::clamp(input(x, y, c) + mapped - l, 0, 255));
    });
    return output;
}
