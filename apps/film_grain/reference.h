// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same grain in plain C++, with a Philox generator of its own.
#pragma once

#include <algorithm>

#include <calotype/buffer.h>

#include "philox.h"

/// The grain of frame `frame`, counted from 0.
inline calotype::Runtime::Buffer<float, 3>
film_grain_reference(const calotype::Runtime::Buffer<float, 3> &input, float strength,
                     uint64_t seed, int frame) {
    const int width = input.width(), height = input.height();
    calotype::Runtime::Buffer<float, 2> drawn(width, height);
    drawn.for_each_element([&](int x, int y) {
        drawn(x, y) =
            Philox::normal(seed, uint64_t(y) * uint64_t(width) + uint64_t(x), uint64_t(frame));
    });
    auto around = [&](int x, int y) {
        return drawn(std::clamp(x, 0, width - 1), std::clamp(y, 0, height - 1));
    };
    calotype::Runtime::Buffer<float, 3> output(width, height, 3);
    output.for_each_element([&](int x, int y, int c) {
        const float soft = 0.6f * around(x, y) + 0.35f * (around(x - 1, y) + around(x + 1, y) +
                                                          around(x, y - 1) + around(x, y + 1));
        const float light = input(x, y, c);
        output(x, y, c) = std::clamp(light + strength * 4 * light * (1 - light) * soft, 0.0f, 1.0f);
    });
    return output;
}
