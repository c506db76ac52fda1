// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Libraries with runtimes of their own: what is set of one is not set of the other.
#include <calotype/runtime.h>

#include <cstdint>
#include <cstdio>
#include <vector>

#include "brighten_blue.h"
#include "brighten_red.h"

extern "C" {
using Handler = void (*)(void *, const char *);
Handler red_set_error_handler(Handler);
Handler blue_set_error_handler(Handler);
int red_set_num_threads(int);
int red_get_num_threads();
int blue_set_num_threads(int);
int blue_get_num_threads();
}

namespace {

int red_errors = 0, blue_errors = 0;

struct Image {
    explicit Image(int width, int height) : bytes(size_t(width) * size_t(height), 7) {
        dims[0] = {0, width, 1, 0};
        dims[1] = {0, height, width, 0};
        buffer.host = bytes.data();
        buffer.type = {calotype_type_uint, 8, 1};
        buffer.dimensions = 2;
        buffer.dim = dims;
    }
    std::vector<uint8_t> bytes;
    calotype_dimension_t dims[2];
    calotype_buffer_t buffer = {};
};

}  // namespace

int main() {
    red_set_error_handler([](void *, const char *) { red_errors++; });
    blue_set_error_handler([](void *, const char *) { blue_errors++; });
    red_set_num_threads(2);
    blue_set_num_threads(3);
    Image in(50, 20), red(50, 20), blue(50, 20), wide(60, 20);
    const bool right = brighten_red(&in.buffer, 2, &red.buffer) == 0 &&
                       brighten_blue(&in.buffer, 3, &blue.buffer) == 0 && red.bytes[999] == 19 &&
                       blue.bytes[999] == 26;
    const bool fails = brighten_blue(&in.buffer, 3, &wide.buffer) != 0;
    std::printf("right %d, threads %d and %d, fails %d, errors %d and %d\n", right,
                red_get_num_threads(), blue_get_num_threads(), fails, red_errors, blue_errors);
    return 0;
}
