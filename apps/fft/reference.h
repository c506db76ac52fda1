// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The transform as it is defined, in double: columns, then rows.
#pragma once

#include <complex>
#include <vector>

#include "app.h"

inline app::Image<float> fft_reference(const app::Image<float> &input) {
    const int size = input.width();
    std::vector<std::complex<double>> roots(size), line(size);
    for (int i = 0; i < size; i++) {
        roots[i] = std::polar(1.0, -2 * M_PI * i / size);
    }
    app::Image<float> output = input.copy();
    for (int axis : {1, 0}) {
        for (int at = 0; at < size; at++) {
            app::Image<float, 2> slice = output.sliced(1 - axis, at);
            for (int i = 0; i < size; i++) {
                line[i] = {slice(i, 0), slice(i, 1)};
            }
            for (int i = 0; i < size; i++) {
                std::complex<double> sum = 0;
                for (int j = 0; j < size; j++) {
                    sum += line[j] * roots[i * j % size];
                }
                slice(i, 0) = float(sum.real());
                slice(i, 1) = float(sum.imag());
            }
        }
    }
    return output;
}
