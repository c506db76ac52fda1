// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same filter in plain C++, one pixel and one neighbour after the other.
#pragma once

#include "app.h"

inline app::Image<float> nl_means_reference(const app::Image<float> &input, float sigma,
                                            int patch = 5, int search = 11) {
    const int p = patch / 2, s = search / 2, width = input.width(), height = input.height();
    const float scale = -1.0f / (3.0f * float(patch * patch) * sigma * sigma);
    const auto at = [&](int x, int y, int c) {
        return input(app::clamped(x, width), app::clamped(y, height), c);
    };
    app::Image<float> output(width, height, 3), squares(width + 2 * p, height + 2 * p, 1);
    app::Image<float, 2> weights(width, height);
    output.fill(0);
    weights.fill(0);
    squares.set_min(-p, -p);
    for (int dy = -s; dy <= s; dy++) {
        for (int dx = -s; dx <= s; dx++) {
            squares.for_each_element([&](int x, int y, int) {
                float sum = 0;
                for (int c = 0; c < 3; c++) {
                    const float d = at(x, y, c) - at(x + dx, y + dy, c);
                    sum += d * d;
                }
                squares(x, y, 0) = sum;
            });
            weights.for_each_element([&](int x, int y) {
                float distance = 0;
                for (int j = -p; j <= p; j++) {
                    for (int i = -p; i <= p; i++) {
                        distance += squares(x + i, y + j, 0);
                    }
                }
                const float w = std::exp(distance * scale);
                weights(x, y) += w;
                for (int c = 0; c < 3; c++) {
                    output(x, y, c) += w * at(x + dx, y + dy, c);
                }
            });
        }
    }
    output.for_each_element([&](int x, int y, int c) { output(x, y, c) /= weights(x, y); });
    return output;
}
