// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same detector in plain C++.
#pragma once

#include "app.h"

inline app::Image<float, 2> harris_reference(const app::Image<float> &input) {
    const int width = input.width(), height = input.height();
    const auto gray = [&](int x, int y) {
        x = app::clamped(x, width);
        y = app::clamped(y, height);
        return 0.299f * input(x, y, 0) + 0.587f * input(x, y, 1) + 0.114f * input(x, y, 2);
    };
    app::Image<float, 2> dx(width + 2, height + 2), dy(width + 2, height + 2);
    dx.set_min(-1, -1);
    dy.set_min(-1, -1);
    dx.for_each_element([&](int x, int y) {
        const auto slope = [&](int i, int j) {  // across direction (i, j), at three places
            float sum = 0;
            for (int k = -1; k <= 1; k++) {
                const float weight = k == 0 ? 2 : 1;
                sum += weight *
                       (gray(x + i + k * j, y + j + k * i) - gray(x - i + k * j, y - j + k * i));
            }
            return sum / 8;
        };
        dx(x, y) = slope(1, 0);
        dy(x, y) = slope(0, 1);
    });
    app::Image<float, 2> output(width, height);
    output.for_each_element([&](int x, int y) {
        float xx = 0, xy = 0, yy = 0;
        for (int i = -1; i <= 1; i++) {
            for (int j = -1; j <= 1; j++) {
                const float u = dx(x + j, y + i), v = dy(x + j, y + i);
                xx += u * u;
                xy += u * v;
                yy += v * v;
            }
        }
        output(x, y) = xx * yy - xy * xy - 0.04f * (xx + yy) * (xx + yy);
    });
    return output;
}
