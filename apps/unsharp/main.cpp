// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sharpens a photograph, checks the result against plain C++, and prints the time it takes.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>

#include <calotype/buffer.h>
#include <calotype/tools/benchmark.h>
#include <calotype/tools/image_io.h>

#include "reference.h"
#include "unsharp.h"

using calotype::Runtime::Buffer;

namespace {

/// Values from just above 0 to 1, so that the ratio of grey values is defined everywhere.
Buffer<float, 3> prepare(const Buffer<uint8_t, 3> &picture) {
    Buffer<float, 3> image(picture.width(), picture.height(), 3);
    image.for_each_element(
        [&](int x, int y, int c) { image(x, y, c) = (float(picture(x, y, c)) + 1) / 256; });
    return image;
}

int run(const char *input_path, const char *output_path) {
    Buffer<uint8_t, 3> picture = calotype::Tools::load_image(input_path);
    Buffer<float, 3> input = prepare(picture);
    Buffer<float, 3> output(input.width(), input.height(), 3);
    double seconds = calotype::Tools::benchmark([&] {
        unsharp(input, output);
        // A device works on its own.
        output.device_sync();
    });
    const bool on_device = output.device_dirty();
    output.copy_to_host();

    Buffer<float, 3> expected = unsharp_reference(input);
    float worst = 0;
    output.for_each_element([&](int x, int y, int c) {
        worst = std::max(worst, std::abs(output(x, y, c) - expected(x, y, c)));
    });
    picture.for_each_element([&](int x, int y, int c) {
        picture(x, y, c) = uint8_t(std::clamp(output(x, y, c) * 256 - 1, 0.0f, 255.0f));
    });
    calotype::Tools::save_image(picture, output_path);
    double megapixels = double(input.width()) * input.height() / 1e6;
    std::printf(
        "unsharp on the %s: %.3f ms, %.3f ms a megapixel, largest difference from plain C++ %g\n",
        on_device ? "GPU" : "processor", seconds * 1e3, seconds * 1e3 / megapixels, double(worst));
    return worst < 1e-4f ? 0 : 1;
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
        std::fprintf(stderr, "unsharp: %s\n", e.what());
        return 1;
    }
}
