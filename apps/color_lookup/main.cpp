// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gives a photograph another look, checks the result against plain C++, and prints the time it
// takes and how often the library was set up.
#include <cmath>
#include <cstdio>
#include <exception>

#include <calotype/buffer.h>
#include <calotype/runtime.h>
#include <calotype/tools/benchmark.h>
#include <calotype/tools/image_io.h>

#include "color_cube.h"
#include "color_lookup.h"
#include "reference.h"

using calotype::Runtime::Buffer;

namespace {

int run(const char *input_path, const char *output_path) {
    color_cube_make();
    Buffer<uint8_t, 3> input = calotype::Tools::load_image(input_path);
    Buffer<uint8_t, 3> output(input.width(), input.height(), 3);
    bool failed = false;
    double seconds = calotype::Tools::benchmark([&] {
        failed |= color_lookup(input, output) != 0;
        // A device works on its own.
        output.device_sync();
    });
    if (failed) {
        return 1;
    }
    const bool on_device = output.device_dirty();
    output.copy_to_host();

    const Buffer<double, 3> expected = color_lookup_reference(input);
    int wrong = 0;
    // Where a value lies halfway between two levels, either is right.
    output.for_each_element([&](int x, int y, int c) {
        wrong += std::abs(output(x, y, c) - expected(x, y, c)) > 0.501;
    });
    calotype::Tools::save_image(output, output_path);
    // Unloads the kernels: the library is torn down.
    input.device_free();
    output.device_free();
    if (on_device && calotype_release_context(nullptr, CALOTYPE_REL_BUSY, 0) != CALOTYPE_OK) {
        return 1;
    }
    const ColorCubeCalls calls = color_cube_calls();
    const double megapixels = double(input.width()) * input.height() / 1e6;
    std::printf("color_lookup on the %s: %.3f ms, %.3f ms a megapixel, %d values differ from plain "
                "C++, %d set-ups, %d tear-downs\n",
                on_device ? "GPU" : "processor", seconds * 1e3, seconds * 1e3 / megapixels, wrong,
                calls.setups, calls.teardowns);
    return wrong || calls.setups != on_device || calls.teardowns != on_device ? 1 : 0;
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
        std::fprintf(stderr, "color_lookup: %s\n", e.what());
        return 1;
    }
}
