// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blurs a photograph, checks the result against plain C++, and prints the time it takes.
#include <cstdio>
#include <exception>

#include <calotype/buffer.h>
#include <calotype/tools/benchmark.h>
#include <calotype/tools/image_io.h>

#include "blur.h"
#include "reference.h"

using calotype::Runtime::Buffer;

namespace {

/// 16-bit sums must not wrap: a quarter of the range is used.
Buffer<uint16_t, 3> prepare(const Buffer<uint8_t, 3> &picture) {
    Buffer<uint16_t, 3> image(picture.width(), picture.height(), picture.channels());
    image.for_each_element(
        [&](int x, int y, int c) { image(x, y, c) = uint16_t(picture(x, y, c) * 64); });
    return image;
}

int run(const char *input_path, const char *output_path) {
    Buffer<uint8_t, 3> picture = calotype::Tools::load_image(input_path);
    Buffer<uint16_t, 3> input = prepare(picture);
    Buffer<uint16_t, 3> output(input.width(), input.height(), input.channels());
    double seconds = calotype::Tools::benchmark([&] {
        blur(input, output);
        // A device works on its own.
        output.device_sync();
    });
    const bool on_device = output.device_dirty();
    output.copy_to_host();

    Buffer<uint16_t, 3> expected = blur_reference(input);
    int wrong = 0;
    output.for_each_element(
        [&](int x, int y, int c) { wrong += output(x, y, c) != expected(x, y, c); });
    picture.for_each_element(
        [&](int x, int y, int c) { picture(x, y, c) = uint8_t(output(x, y, c) / 64); });
    calotype::Tools::save_image(picture, output_path);
    double megapixels = double(input.width()) * input.height() / 1e6;
    std::printf("blur on the %s: %.3f ms, %.3f ms a megapixel, %d values differ from plain C++\n",
                on_device ? "GPU" : "processor", seconds * 1e3, seconds * 1e3 / megapixels, wrong);
    return wrong ? 1 : 0;
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
        std::fprintf(stderr, "blur: %s\n", e.what());
        return 1;
    }
}
