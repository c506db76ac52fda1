// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Filters a photograph, checks the result against plain C++, and prints the time it takes.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include <calotype/buffer.h>
#include <calotype/tools/benchmark.h>
#include <calotype/tools/image_io.h>

#include "local_laplacian.h"
#include "reference.h"

using calotype::Runtime::Buffer;

namespace {

constexpr int levels = 8;
constexpr float alpha = 1.0f / (levels - 1), beta = 1.0f;

Buffer<uint16_t, 3> prepare(const Buffer<uint8_t, 3> &picture) {
    Buffer<uint16_t, 3> image(picture.width(), picture.height(), 3);
    image.for_each_element(
        [&](int x, int y, int c) { image(x, y, c) = uint16_t(picture(x, y, c) * 257); });
    return image;
}

int run(const char *input_path, const char *output_path) {
    Buffer<uint8_t, 3> picture = calotype::Tools::load_image(input_path);
    Buffer<uint16_t, 3> input = prepare(picture);
    Buffer<uint16_t, 3> output(input.width(), input.height(), 3);
    double seconds = calotype::Tools::benchmark([&] {
        local_laplacian(input, levels, alpha, beta, output);
        // A device works on its own.
        output.device_sync();
    });
    const bool on_device = output.device_dirty();
    output.copy_to_host();

    Buffer<uint16_t, 3> expected = LocalLaplacianReference(input, levels, alpha, beta).run();
    int worst = 0;
    output.for_each_element([&](int x, int y, int c) {
        worst = std::max(worst, std::abs(int(output(x, y, c)) - int(expected(x, y, c))));
    });
    picture.for_each_element(
        [&](int x, int y, int c) { picture(x, y, c) = uint8_t(output(x, y, c) / 257); });
    calotype::Tools::save_image(picture, output_path);
    double megapixels = double(input.width()) * input.height() / 1e6;
    std::printf("local_laplacian on the %s: %.3f ms, %.3f ms a megapixel, largest difference from "
                "plain C++ "
                "%d of 65535\n",
                on_device ? "GPU" : "processor", seconds * 1e3, seconds * 1e3 / megapixels, worst);
    // A rounding that falls to the other side of a table entry moves the result by a few steps.
    return worst <= 64 ? 0 : 1;
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
        std::fprintf(stderr, "local_laplacian: %s\n", e.what());
        return 1;
    }
}
