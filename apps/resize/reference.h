// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same in plain C++, one direction after the other.
#pragma once

#include <vector>

#include "app.h"

/// Resizes dimension `axis` to `extent` pixels.
inline app::Image<float> resize_axis(const app::Image<float> &input, float scale, int axis,
                                     int extent) {
    const float stretch = std::max(1.0f / scale, 1.0f);
    const int taps = int(std::ceil(4 * stretch));
    const auto cubic = [](float t) {
        return t < 1   ? (1.5f * t - 2.5f) * t * t + 1
               : t < 2 ? ((-0.5f * t + 2.5f) * t - 4) * t + 2
                       : 0;
    };
    app::Image<float> output(axis == 0 ? extent : input.width(),
                             axis == 1 ? extent : input.height(), input.channels());
    for (int i = 0; i < extent; i++) {
        const float middle = (float(i) + 0.5f) * (1.0f / scale) - 0.5f;
        const int first = int(std::ceil(middle - 2 * stretch));
        std::vector<float> weights(taps);
        float total = 0;
        for (int k = 0; k < taps; k++) {
            weights[k] = cubic(std::abs(float(first + k) - middle) / stretch);
            total += weights[k];
        }
        output.sliced(axis, i).for_each_element([&](int j, int c) {
            float sum = 0;
            for (int k = 0; k < taps; k++) {
                const int at = app::clamped(first + k, input.dim(axis).extent());
                sum += weights[k] / total * (axis == 0 ? input(at, j, c) : input(j, at, c));
            }
            (axis == 0 ? output(i, j, c) : output(j, i, c)) = sum;
        });
    }
    return output;
}

inline app::Image<float> resize_reference(const app::Image<float> &input, float scale, int width,
                                          int height) {
    return resize_axis(resize_axis(input, scale, 1, height), scale, 0, width);
}
