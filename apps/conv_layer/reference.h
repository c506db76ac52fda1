// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same layer in plain C++.
#pragma once

#include "app.h"

using Tensor = app::Image<float, 4>;

inline Tensor conv_layer_reference(const Tensor &input, const Tensor &filter,
                                   const app::Image<float, 1> &bias) {
    const int channels = filter.dim(0).extent();
    Tensor output(channels, input.dim(1).extent() - 2, input.dim(2).extent() - 2,
                  input.dim(3).extent());
    output.for_each_element([&](int c, int x, int y, int n) {
        float sum = bias(c);
        for (int i = 0; i < 9 * input.dim(0).extent(); i++) {
            const int dx = i % 3, dy = i / 3 % 3, k = i / 9;
            sum += filter(c, k, dx, dy) * input(k, x + dx, y + dy, n);
        }
        output(c, x, y, n) = std::max(sum, 0.0f);
    });
    return output;
}
