// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The library's half on the GPU: a generator of cuRAND for each pixel, which goes on where the last
// frame left it.
#include <curand_kernel.h>

static_assert(sizeof(curandStatePhilox4_32_10_t) == 64, "grain_cuda.cpp allocates 64 bytes each");

/// One for each pixel; grain_setup() allocates them and stores their address here.
extern "C" __device__ curandStatePhilox4_32_10_t *grain_states;
__device__ curandStatePhilox4_32_10_t *grain_states;

/// Launched by grain_setup(): each pixel draws from a sequence of its own.
extern "C" __global__ void grain_start(curandStatePhilox4_32_10_t *states, int pixels,
                                       unsigned long long seed) {
    const int pixel = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (pixel < pixels) {
        curand_init(seed, pixel, 0, &states[pixel]);
    }
}

/// The next number of a pixel, of a normal distribution.
extern "C" __device__ float grain_next(int pixel) {
    curandStatePhilox4_32_10_t state = grain_states[pixel];
    const float grain = curand_normal(&state);
    grain_states[pixel] = state;
    return grain;
}
