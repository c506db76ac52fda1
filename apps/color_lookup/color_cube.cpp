// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host part of the library: it makes the cube, and copies it to each module that is loaded.
#include "color_cube.h"

#include <algorithm>
#include <atomic>

#include <calotype/runtime/abi/linkables.h>

extern "C" {
float color_cube[color_cube_values];
}

namespace {

std::atomic<int> setups{0}, teardowns{0};

/// A curve that is steeper in the middle.
float more_contrast(float v) {
    return v * v * (3 - 2 * v);
}

void set(int r, int g, int b, float *color) {
    const float scale = 1.0f / (color_cube_points - 1);
    const float rgb[3] = {float(r) * scale, float(g) * scale, float(b) * scale};
    const float gray = 0.299f * rgb[0] + 0.587f * rgb[1] + 0.114f * rgb[2];
    const float light = more_contrast(gray);
    const float shadows[3] = {-0.06f, 0.02f, 0.08f}, lights[3] = {0.10f, 0.02f, -0.10f};
    for (int c = 0; c < 3; c++) {
        const float tint = shadows[c] * (1 - light) + lights[c] * light;
        const float toned = light + 0.85f * (rgb[c] - gray) + tint;
        color[c] = std::clamp(toned, 0.0f, 1.0f);
    }
}

}  // namespace

extern "C" {

void color_cube_make() {
    float *color = color_cube;
    for (int b = 0; b < color_cube_points; b++) {
        for (int g = 0; g < color_cube_points; g++) {
            for (int r = 0; r < color_cube_points; r++, color += 3) {
                set(r, g, b, color);
            }
        }
    }
}

int color_cube_setup(const calotype_callback_args *args) {
    setups++;
    return args->svc->copy_to_global(args, "color_cube", 0, color_cube, sizeof color_cube);
}

int color_cube_teardown(const calotype_callback_args *) {
    teardowns++;
    return 0;
}

ColorCubeCalls color_cube_calls() {
    return {setups, teardowns};
}

}  // extern "C"
