// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same in plain C++, a level after the other.
#pragma once

#include <vector>

#include "app.h"

inline app::Image<float> interpolate_reference(const app::Image<float> &input, int levels = 8) {
    using Level = app::Image<float>;
    const auto at = [](const Level &l, int x, int y, int c) {
        return l(app::clamped(x, l.width()), app::clamped(y, l.height()), c);
    };
    std::vector<Level> pulled(levels);
    pulled[0] = app::same_size<float>(input);
    pulled[0].for_each_element([&](int x, int y, int c) {
        pulled[0](x, y, c) = (c < 3 ? input(x, y, c) : 1) * input(x, y, 3);
    });
    for (int i = 1; i < levels; i++) {
        const Level &finer = pulled[i - 1];
        pulled[i] = Level((finer.width() + 1) / 2, (finer.height() + 1) / 2, 4);
        pulled[i].for_each_element([&](int x, int y, int c) {
            float sum = 0;
            for (int dy = -1; dy <= 1; dy++) {
                for (int dx = -1; dx <= 1; dx++) {
                    sum +=
                        at(finer, 2 * x + dx, 2 * y + dy, c) * float((2 - dx * dx) * (2 - dy * dy));
                }
            }
            pulled[i](x, y, c) = sum / 16;
        });
    }
    for (int i = levels - 2; i >= 0; i--) {
        // From here on a level of `pulled` is that of the results.
        const Level &coarser = pulled[i + 1];
        const Level own = pulled[i].copy();
        pulled[i].for_each_element([&](int x, int y, int c) {
            const float sum = at(coarser, x / 2, y / 2, c) + at(coarser, (x + 1) / 2, y / 2, c) +
                              at(coarser, x / 2, (y + 1) / 2, c) +
                              at(coarser, (x + 1) / 2, (y + 1) / 2, c);
            pulled[i](x, y, c) += (1 - own(x, y, 3)) * (sum / 4);
        });
    }
    Level output(input.width(), input.height(), 3);
    output.for_each_element(
        [&](int x, int y, int c) { output(x, y, c) = pulled[0](x, y, c) / pulled[0](x, y, 3); });
    return output;
}
