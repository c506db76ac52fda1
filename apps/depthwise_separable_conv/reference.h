// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same layer in plain C++.
#pragma once

#include "app.h"

using Tensor = app::Image<float, 4>;

inline Tensor depthwise_separable_conv_reference(const Tensor &input,
                                                 const app::Image<float, 3> &depthwise,
                                                 const app::Image<float, 2> &pointwise,
                                                 const app::Image<float, 1> &bias) {
    const int channels = input.dim(0).extent();
    Tensor filtered(channels, input.dim(1).extent() - 2, input.dim(2).extent() - 2,
                    input.dim(3).extent());
    filtered.for_each_element([&](int k, int x, int y, int n) {
        float sum = 0;
        for (int i = 0; i < 9; i++) {
            sum += depthwise(k, i % 3, i / 3) * input(k, x + i % 3, y + i / 3, n);
        }
        filtered(k, x, y, n) = sum;
    });
    Tensor output(pointwise.width(), filtered.dim(1).extent(), filtered.dim(2).extent(),
                  filtered.dim(3).extent());
    output.for_each_element([&](int c, int x, int y, int n) {
        float sum = bias(c);
        for (int k = 0; k < channels; k++) {
            sum += pointwise(c, k) * filtered(k, x, y, n);
        }
        output(c, x, y, n) = std::max(sum, 0.0f);
    });
    return output;
}
