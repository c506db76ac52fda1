// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same transform in plain C++. There is none of the inverse: it must give the image back.
#pragma once

#include "app.h"

inline app::Image<float> wavelet_reference(const app::Image<float, 2> &input) {
    const double root = std::sqrt(3.0), scale = 4 * std::sqrt(2.0);
    const double low[4] = {(1 + root) / scale, (3 + root) / scale, (3 - root) / scale,
                           (1 - root) / scale};
    const double high[4] = {low[3], -low[2], low[1], -low[0]};
    app::Image<float> output(input.width() / 2, input.height() / 2, 4);
    output.for_each_element([&](int x, int y, int band) {
        double sum = 0;
        for (int j = 0; j < 4; j++) {
            for (int i = 0; i < 4; i++) {
                const double weight = (band % 2 ? high[i] : low[i]) * (band / 2 ? high[j] : low[j]);
                sum += weight * input((2 * x + i) % input.width(), (2 * y + j) % input.height());
            }
        }
        output(x, y, band) = float(sum);
    });
    return output;
}
