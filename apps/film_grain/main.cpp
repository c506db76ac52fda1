// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Three frames of one photograph, each with grain of its own; each is compared with plain C++, and
// the last one written.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>

#include <calotype/buffer.h>
#include <calotype/runtime.h>
#include <calotype/tools/image_io.h>

#include "film_grain.h"
#include "grain.h"
#include "reference.h"

using calotype::Runtime::Buffer;

namespace {

constexpr int frames = 3;
constexpr uint64_t seed = 1839;  // the year of the calotype's first negatives
constexpr float strength = 0.06f;

float largest_difference(const Buffer<float, 3> &a, const Buffer<float, 3> &b) {
    float worst = 0;
    a.for_each_element(
        [&](int x, int y, int c) { worst = std::max(worst, std::abs(a(x, y, c) - b(x, y, c))); });
    return worst;
}

int run(const char *input_path, const char *output_path) {
    Buffer<uint8_t, 3> picture = calotype::Tools::load_image(input_path);
    Buffer<float, 3> input(picture.width(), picture.height(), 3);
    input.for_each_element(
        [&](int x, int y, int c) { input(x, y, c) = float(picture(x, y, c)) / 255; });
    Buffer<float, 3> output(input.width(), input.height(), 3);

    grain_plan = {input.width() * input.height(), seed};
    grain_begin();
    float worst = 0;
    double seconds = 0;
    bool on_device = false;
    for (int frame = 0; frame < frames; frame++) {
        const auto begin = std::chrono::steady_clock::now();
        if (film_grain(input, strength, output) != 0 || output.device_sync() != 0) {
            return 1;
        }
        seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        on_device = output.device_dirty();
        output.copy_to_host();
        worst = std::max(
            worst, largest_difference(output, film_grain_reference(input, strength, seed, frame)));
    }
    picture.for_each_element(
        [&](int x, int y, int c) { picture(x, y, c) = uint8_t(output(x, y, c) * 255 + 0.5f); });
    calotype::Tools::save_image(picture, output_path);
    // Unloads the kernels: the library is torn down.
    input.device_free();
    output.device_free();
    if (on_device && calotype_release_context(nullptr, CALOTYPE_REL_BUSY, 0) != CALOTYPE_OK) {
        return 1;
    }
    const GrainCalls calls = grain_calls();
    std::printf("film_grain on the %s: %d frames, the last in %.3f ms, largest difference from "
                "plain C++ %g, %d set-ups, %d tear-downs\n",
                on_device ? "GPU" : "processor", frames, seconds * 1e3, double(worst), calls.setups,
                calls.teardowns);
    return worst > 1e-5f || calls.setups != on_device || calls.teardowns != on_device ? 1 : 0;
}

}  // namespace

int main(int argc, char **argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: %s INPUT.png OUTPUT.png\n", argv[0]);
        return 2;
    }
    try {
        return run(argv[1], argv[2]);
    } catch (const std::exception &e) {
        std::fprintf(stderr, "film_grain: %s\n", e.what());
        return 1;
    }
}
