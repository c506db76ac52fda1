// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same maximum in plain C++: every pixel of the disc is looked at.
#pragma once

#include "app.h"

inline app::Image<float> max_filter_reference(const app::Image<float> &input, int radius = 15) {
    app::Image<float> output = app::same_size<float>(input);
    const float limit = float(radius) + 0.25f;
    output.for_each_element([&](int x, int y, int c) {
        float brightest = input(x, y, c);
        for (int dy = -radius; dy <= radius; dy++) {
            for (int dx = -radius; dx <= radius; dx++) {
                if (float(dx * dx + dy * dy) <= limit * limit) {
                    brightest = std::max(brightest, input(app::clamped(x + dx, input.width()),
                                                          app::clamped(y + dy, input.height()), c));
                }
            }
        }
        output(x, y, c) = brightest;
    });
    return output;
}
