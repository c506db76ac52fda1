// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Headers of a Calotype that is built with the program.
#include <calotype/buffer.h>
#include <calotype/tools/image_io.h>

#include <cstdio>

int main() {
    calotype::Runtime::Buffer<uint8_t> image(5, 4);
    image.fill(3);
    calotype::Tools::save_image(image, "subproject.pgm");
    const calotype::Runtime::Buffer<uint8_t> again = calotype::Tools::load_image("subproject.pgm");
    std::printf("element is %d\n", again(4, 3));
    return 0;
}
