// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same product in plain C++, summed in double.
#pragma once

#include "app.h"

using Matrix = app::Image<float, 2>;

inline Matrix gemm_reference(float alpha, const Matrix &a, const Matrix &b, float beta,
                             const Matrix &c) {
    Matrix output = app::same_size<float>(c);
    output.for_each_element([&](int x, int y) {
        double sum = 0;
        for (int k = 0; k < a.width(); k++) {
            sum += double(a(k, y)) * double(b(x, k));
        }
        output(x, y) = float(alpha * sum + beta * c(x, y));
    });
    return output;
}
