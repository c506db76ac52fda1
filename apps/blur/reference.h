// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same blur in plain C++, one pixel after the other.
#pragma once

#include <algorithm>
#include <cstdint>

#include <calotype/buffer.h>

inline calotype::Runtime::Buffer<uint16_t, 3>
blur_reference(const calotype::Runtime::Buffer<uint16_t, 3> &input) {
    const int width = input.width(), height = input.height();
    auto at = [&](int x, int y, int c) {
        return input(std::clamp(x, 0, width - 1), std::clamp(y, 0, height - 1), c);
    };
    auto blur_x = [&](int x, int y, int c) {
        return uint16_t(uint16_t(at(x - 1, y, c) + at(x, y, c) + at(x + 1, y, c)) / 3);
    };
    calotype::Runtime::Buffer<uint16_t, 3> output(width, height, input.channels());
    output.for_each_element([&](int x, int y, int c) {
        output(x, y, c) =
            uint16_t(uint16_t(blur_x(x, y - 1, c) + blur_x(x, y, c) + blur_x(x, y + 1, c)) / 3);
    });
    return output;
}
