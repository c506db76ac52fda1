// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cube: for each of 17 x 17 x 17 colours the one that it becomes.
#pragma once

constexpr int color_cube_points = 17;
constexpr int color_cube_values = 3 * color_cube_points * color_cube_points * color_cube_points;

#ifndef __CUDA_ARCH__
extern "C" {
/// The processor's, and what is copied to each module on a GPU: value (c, r, g, b), c fastest.
extern float color_cube[color_cube_values];

/// Fills it with the look of the app: shadows towards teal, lights towards orange. To be called
/// before a pipeline that uses it.
void color_cube_make();

/// How often the callbacks ran.
struct ColorCubeCalls {
    int setups, teardowns;
};
ColorCubeCalls color_cube_calls();
}
#endif
