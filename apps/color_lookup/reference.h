// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same in plain C++: the weighted mean of the eight points of the cube around a colour.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <calotype/buffer.h>

#include "color_cube.h"

inline double looked_up(const uint8_t *rgb, int c) {
    int point[3];
    double part[3], sum = 0;
    for (int i = 0; i < 3; i++) {
        const double scaled = rgb[i] / 255.0 * (color_cube_points - 1);
        point[i] = std::min(int(scaled), color_cube_points - 2);
        part[i] = scaled - point[i];
    }
    for (int corner = 0; corner < 8; corner++) {
        double weight = 1;
        int at[3];
        for (int i = 0; i < 3; i++) {
            const int far = corner >> i & 1;
            at[i] = point[i] + far;
            weight *= far ? part[i] : 1 - part[i];
        }
        const int index = (at[2] * color_cube_points + at[1]) * color_cube_points + at[0];
        sum += weight * double(color_cube[3 * index + c]);
    }
    return sum;
}

/// Values from 0 to 255 that are not rounded yet.
inline calotype::Runtime::Buffer<double, 3>
color_lookup_reference(const calotype::Runtime::Buffer<uint8_t, 3> &input) {
    calotype::Runtime::Buffer<double, 3> output(input.width(), input.height(), 3);
    output.for_each_element([&](int x, int y, int c) {
        const uint8_t rgb[3] = {input(x, y, 0), input(x, y, 1), input(x, y, 2)};
        output(x, y, c) = 255 * looked_up(rgb, c);
    });
    return output;
}
