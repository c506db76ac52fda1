// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times the apps' kernels and Halide's from the same schedules, and the driver's copy of the
// result, in turns, on the GPU: buffers stay on the device, and a time is that of several calls and
// a wait, by call. What an app must move is its input once and its output once, of the same size:
// what the copy moves. With the name of an app as argument, that one alone.
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>

#include <calotype/buffer.h>
#include <calotype/runtime.h>
#include <calotype/runtime/abi/runtime_cuda.h>

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
    const int calls = 20, rounds = 20;
    Side<T> a(width, height, value), b(width, height, value);
    Image<T> copy(width, height, 3);
    int failures =
        calotype_device_malloc(nullptr, copy, calotype_cuda_device_interface()) == 0 ? 0 : 1;
    const auto run = [&](const std::function<int()> &call, const std::function<int()> &wait) {
        return [&failures, call, wait] {
            for (int i = 0; i < calls; i++) {
                failures += call() != 0;
            }
            failures += wait() != 0;
        };
    };
    // Of the result the device alone has what is valid: it is copied there.
    const std::vector<CallTime> times = in_turns(
        {run([&] { return ours(a); }, [&] { return calotype_device_sync(nullptr, a.output); }),
         run([&] { return theirs(b); }, [&] { return halide_device_sync(nullptr, b.output); }),
         run(
             [&] {
                 return calotype_buffer_copy(nullptr, a.output, calotype_cuda_device_interface(),
                                             copy);
             },
             [&] { return calotype_device_sync(nullptr, copy); })},
        rounds, calls);
    std::printf("{\"app\": \"%s\", \"width\": %d, \"height\": %d, \"megabytes\": %.1f, "
                "\"calotype_ms\": %.4f, \"halide_ms\": %.4f, \"copy_ms\": %.4f}\n",
                name, width, height, 2e-6 * double(a.input.size_in_bytes()), times[0].median,
                times[1].median, times[2].median);
    failures += calotype_copy_to_host(nullptr, a.output) != 0;
    failures += halide_copy_to_host(nullptr, b.output) != 0;
    size_t differ = 0;
    const T *x1 = a.output.data(), *x2 = b.output.data();
    for (size_t i = 0; i < a.output.number_of_elements(); i++) {
        const double difference = std::abs(double(x1[i]) - double(x2[i]));
        differ += difference > tolerance * (1 + std::abs(double(x2[i]))) ? 1 : 0;
    }
    std::fprintf(stderr, "%s, %d x %d, %d calls a time: %zu values differ, %d calls failed\n", name,
                 width, height, calls, differ, failures);
    std::fflush(stdout);
    halide_device_free(nullptr, b.input);
    halide_device_free(nullptr, b.output);
    return differ != 0 || failures != 0;
}

}  // namespace

int main(int argc, char **argv) {
    const auto is_wanted = [&](const std::string &app) {
        return argc < 2 || app == argv[1];
    };
    const auto of_size = [&](int scale) {
        int failed = 0;
        if (is_wanted("blur")) {
            failed += compare<uint16_t>(
                "blur", 2560 * scale, 1600 * scale,
                [](uint32_t s) { return uint16_t(1 + (s >> 20)); }, 1e-3,
                [](auto &s) { return blur_gpu(s.input, s.output); },
                [](auto &s) { return blur_halide_gpu(s.input, s.output); });
        }
        if (is_wanted("unsharp")) {
            failed += compare<float>(
                "unsharp", 2560 * scale, 1600 * scale,
                [](uint32_t s) { return float(s >> 8) * 0x1p-24f; }, 1e-3,
                [](auto &s) { return unsharp_gpu(s.input, s.output); },
                [](auto &s) { return unsharp_halide_gpu(s.input, s.output); });
        }
        return failed;
    };
    int failed = of_size(1);
    if (is_wanted("local_laplacian")) {
        const int levels = 8;
        const float alpha = 1.0f / (levels - 1);
        failed += compare<uint16_t>(
            "local_laplacian", 1536, 2560, [](uint32_t s) { return uint16_t(s >> 16); }, 64,
            [&](auto &s) { return local_laplacian_gpu(s.input, levels, alpha, 1.0f, s.output); },
            [&](auto &s) {
                return local_laplacian_halide_gpu(s.input, levels, alpha, 1.0f, s.output);
            });
    }
    failed += of_size(4);  // far beyond the cache
    return failed ? 1 : 0;
}
