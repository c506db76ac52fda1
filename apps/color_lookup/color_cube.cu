// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A library of ours that pipelines link: colours are looked up in a cube, between whose points it
// interpolates. The same source is compiled for the GPU and for the processor.
#include "color_cube.h"

#ifdef __CUDA_ARCH__
/// Each module that links this has one; color_cube_setup() fills it.
extern "C" __device__ float color_cube[color_cube_values];
__device__ float color_cube[color_cube_values];
#endif

namespace {

/// Where a value from 0 to 1 lies between two points of the cube.
struct Place {
    int point;
    float beyond;
};

__host__ __device__ Place place_of(float value) {
    const float scaled = value * (color_cube_points - 1);
    int point = int(scaled);
    point = point < 0 ? 0 : point;
    point = point > color_cube_points - 2 ? color_cube_points - 2 : point;
    return {point, scaled - float(point)};
}

__host__ __device__ float between(float a, float b, float part) {
    return a + (b - a) * part;
}

}  // namespace

/// Channel `c` of the colour that the cube has for (r, g, b), all from 0 to 1.
extern "C" __host__ __device__ float look_up_color(float r, float g, float b, int c) {
    const Place x = place_of(r), y = place_of(g), z = place_of(b);
    const float *cell =
        color_cube + 3 * ((z.point * color_cube_points + y.point) * color_cube_points + x.point) + c;
    const int dx = 3, dy = dx * color_cube_points, dz = dy * color_cube_points;
    float plane[2];
    for (int k = 0; k < 2; k++) {
        const float *at = cell + k * dz;
        plane[k] = between(between(at[0], at[dx], x.beyond),
                           between(at[dy], at[dy + dx], x.beyond), y.beyond);
    }
    return between(plane[0], plane[1], z.beyond);
}
