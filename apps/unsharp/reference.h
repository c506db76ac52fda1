// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same sharpening in plain C++.
#pragma once

#include <algorithm>
#include <cmath>

#include <calotype/buffer.h>

inline calotype::Runtime::Buffer<float, 3>
unsharp_reference(const calotype::Runtime::Buffer<float, 3> &input, float sigma = 1.5f) {
    using Plane = calotype::Runtime::Buffer<float, 2>;
    const int width = input.width(), height = input.height();
    float weight[4], total = 0;
    for (int i = 0; i < 4; i++) {
        weight[i] = std::exp(-float(i * i) / (2 * sigma * sigma));
        total += i == 0 ? weight[i] : 2 * weight[i];
    }
    Plane gray(width, height), blur_y(width, height);
    gray.for_each_element([&](int x, int y) {
        gray(x, y) = 0.299f * input(x, y, 0) + 0.587f * input(x, y, 1) + 0.114f * input(x, y, 2);
    });
    auto clamped = [&](const Plane &p, int x, int y) {
        return p(std::clamp(x, 0, width - 1), std::clamp(y, 0, height - 1));
    };
    auto smooth = [&](const Plane &p, int x, int y, int dx, int dy) {
        float sum = clamped(p, x, y) * (weight[0] / total);
        for (int i = 1; i < 4; i++) {
            sum += (clamped(p, x - i * dx, y - i * dy) + clamped(p, x + i * dx, y + i * dy)) *
                   (weight[i] / total);
        }
        return sum;
    };
    blur_y.for_each_element([&](int x, int y) { blur_y(x, y) = smooth(gray, x, y, 0, 1); });
    calotype::Runtime::Buffer<float, 3> output(width, height, 3);
    output.for_each_element([&](int x, int y, int c) {
        float ratio = (2 * gray(x, y) - smooth(blur_y, x, y, 1, 0)) / gray(x, y);
        output(x, y, c) = ratio * input(x, y, c);
    });
    return output;
}
