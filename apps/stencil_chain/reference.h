// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same chain in plain C++. Stages go on beyond the image, as far as later ones need them.
#pragma once

#include "app.h"

inline app::Image<uint16_t, 2> stencil_chain_reference(const app::Image<uint16_t, 2> &input,
                                                       int stages = 12) {
    using Stage = app::Image<uint16_t, 2>;
    Stage last(input.width() + 4 * stages, input.height() + 4 * stages);
    last.set_min(-2 * stages, -2 * stages);
    last.for_each_element([&](int x, int y) {
        last(x, y) = input(app::clamped(x, input.width()), app::clamped(y, input.height()));
    });
    const int weights[5] = {1, 4, 6, 4, 1};
    for (int i = stages - 1; i >= 0; i--) {
        Stage next(input.width() + 4 * i, input.height() + 4 * i);
        next.set_min(-2 * i, -2 * i);
        next.for_each_element([&](int x, int y) {
            int sum = 128;
            for (int dy = -2; dy <= 2; dy++) {
                for (int dx = -2; dx <= 2; dx++) {
                    sum += weights[dx + 2] * weights[dy + 2] * last(x + dx, y + dy);
                }
            }
            next(x, y) = uint16_t(sum >> 8);
        });
        last = next;
    }
    return last;
}
