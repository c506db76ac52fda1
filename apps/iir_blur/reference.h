// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same blur in plain C++: each line there and back, first the columns, then the rows.
#pragma once

#include "app.h"

inline app::Image<float> iir_blur_reference(const app::Image<float> &input, float alpha) {
    app::Image<float> output = input.copy();
    const auto blur = [&](float *line, int count, int stride) {
        for (int i = 1; i < count; i++) {
            line[i * stride] = alpha * line[i * stride] + (1 - alpha) * line[(i - 1) * stride];
        }
        for (int i = count - 2; i >= 0; i--) {
            line[i * stride] = alpha * line[i * stride] + (1 - alpha) * line[(i + 1) * stride];
        }
    };
    for (int c = 0; c < input.channels(); c++) {
        for (int x = 0; x < input.width(); x++) {
            blur(&output(x, 0, c), input.height(), output.dim(1).stride());
        }
        for (int y = 0; y < input.height(); y++) {
            blur(&output(0, y, c), input.width(), 1);
        }
    }
    return output;
}
