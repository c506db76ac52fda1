// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls the libraries, on threads of a pool.
#include <cstdio>

#include "HalideBuffer.h"
#include "HalideRuntime.h"
#include "halide_benchmark.h"
#include "halide_image_io.h"
#include "halide_thread_pool.h"
#include "soften.h"
#include "soften_by_itself.h"
#include "soften_more.h"
#include "soften_twice.h"

using Halide::Runtime::Buffer;

int main() {
    Buffer<uint8_t, 2> image(66, 32), soft(64, 32), again(64, 32), itself(64, 32);
    image.set_min(-1, 0);
    image.fill([](int x, int y) { return uint8_t(x + 2 * y + 1); });
    Halide::Tools::ThreadPool<int> pool(2);
    auto first = pool.async([&] { return soften(image, 2, 0.5f, soft); });
    auto second = pool.async(
        [&](int shift) { return halide_user::soften_again(image, uint8_t(shift), 0.5f, again); },
        2);
    if (first.get() || second.get() || soften_by_itself(image, 2, 0.5f, itself)) {
        printf("a library fails\n");
        return 1;
    }
    for (int y = 0; y < 32; y++) {
        for (int x = 0; x < 64; x++) {
            const int sides = image(x - 1, y) + image(x + 1, y);
            if (soft(x, y) != uint8_t((sides + 3 * image(x, y)) >> 2) ||
                again(x, y) != uint8_t((sides + 2 * image(x, y)) >> 2) ||
                itself(x, y) != again(x, y)) {
                printf("wrong at %d, %d\n", x, y);
                return 1;
            }
        }
    }
    Buffer<uint8_t, 2> twice(62, 32);
    twice.set_min(1, 0);
    soften_twice(image, twice);
    for (int y = 0; y < 32; y++) {
        for (int x = 1; x < 63; x++) {
            if (twice(x, y) !=
                uint8_t((again(x - 1, y) + again(x + 1, y) + 2 * again(x, y)) >> 2)) {
                printf("wrong at %d, %d where a generator uses another\n", x, y);
                return 1;
            }
        }
    }
    const double seconds = Halide::Tools::benchmark(1, 1, [&] { soften(image, 2, 0.5f, soft); });
    Halide::Tools::save_image(soft, "soft.pgm");
    Buffer<uint8_t, 2> loaded = Halide::Tools::load_image("soft.pgm");
    printf("%s\n", seconds >= 0 && loaded(5, 6) == soft(5, 6) ? "soften works" : "wrong image");
    return 0;
}
