// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times the apps' kernels and Halide's from the same schedules, in turns, on the GPU: buffers stay
// on the device, and a time is that of several calls and a wait, by call.
#include <cmath>
#include <cstdint>
#include <functional>

#include <calotype/buffer.h>
#include <calotype/runtime.h>

#include "blur_gpu.h"
#include "local_laplacian_gpu.h"
#include "side_by_side.h"
#include "unsharp_gpu.h"

extern "C" {
int blur_halide_gpu(calotype_buffer_t *input, calotype_buffer_t *output);
int unsharp_halide_gpu(calotype_buffer_t *input, calotype_buffer_t *output);
int local_laplacian_halide_gpu(calotype_buffer_t *input, int levels, float alpha, float beta,
                               calotype_buffer_t *output);
int halide_device_sync(void *user_context, calotype_buffer_t *buffer);
int halide_copy_to_host(void *user_context, calotype_buffer_t *buffer);
int halide_device_free(void *user_context, calotype_buffer_t *buffer);
}

namespace {

template<typename T>
using Image = calotype::Runtime::Buffer<T, 3>;

/// Each side has its own input too: a buffer is on one interface at a time.
template<typename T>
struct Side {
    Image<T> input, output;

    Side(int width, int height, T (*value)(uint32_t))
        : input(width, height, 3), output(width, height, 3) {
        uint32_t state = 1;
        input.for_each_value([&](auto &v) {
            state = state * 1664525u + 1013904223u;
            v = value(state);
        });
        input.set_host_dirty();
    }
};

template<typename T>
int compare(const char *name, int width, int height, T (*value)(uint32_t), double tolerance,
            const std::function<int(Side<T> &)> &ours,
            const std::function<int(Side<T> &)> &theirs) {
    const int calls = 20;
    Side<T> a(width, height, value), b(width, height, value);
    int failures = 0;
    side_by_side(
        name,
        [&] {
            for (int i = 0; i < calls; i++) {
                failures += ours(a) != 0;
            }
            failures += calotype_device_sync(nullptr, a.output) != 0;
        },
        [&] {
            for (int i = 0; i < calls; i++) {
                failures += theirs(b) != 0;
            }
            failures += halide_device_sync(nullptr, b.output) != 0;
        },
        40, calls);
    failures += calotype_copy_to_host(nullptr, a.output) != 0;
    failures += halide_copy_to_host(nullptr, b.output) != 0;
    size_t differ = 0;
    a.output.for_each_element([&](int x, int y, int c) {
        const double x1 = double(a.output(x, y, c)), x2 = double(b.output(x, y, c));
        differ += std::abs(x1 - x2) > tolerance * (1 + std::abs(x2)) ? 1 : 0;
    });
    std::fprintf(stderr, "%s, %d calls a time: %zu values differ, %d calls failed\n", name, calls,
                 differ, failures);
    halide_device_free(nullptr, b.input);
    halide_device_free(nullptr, b.output);
    return differ != 0 || failures != 0;
}

}  // namespace

int main() {
    int failed = compare<uint16_t>(
        "blur", 2560, 1600, [](uint32_t s) { return uint16_t(1 + (s >> 20)); }, 1e-3,
        [](auto &s) { return blur_gpu(s.input, s.output); },
        [](auto &s) { return blur_halide_gpu(s.input, s.output); });
    failed += compare<float>(
        "unsharp", 2560, 1600, [](uint32_t s) { return float(s >> 8) * 0x1p-24f; }, 1e-3,
        [](auto &s) { return unsharp_gpu(s.input, s.output); },
        [](auto &s) { return unsharp_halide_gpu(s.input, s.output); });
    const int levels = 8;
    const float alpha = 1.0f / (levels - 1);
    failed += compare<uint16_t>(
        "local_laplacian", 1536, 2560, [](uint32_t s) { return uint16_t(s >> 16); }, 64,
        [&](auto &s) { return local_laplacian_gpu(s.input, levels, alpha, 1.0f, s.output); },
        [&](auto &s) {
            return local_laplacian_halide_gpu(s.input, levels, alpha, 1.0f, s.output);
        });
    return failed ? 1 : 0;
}
