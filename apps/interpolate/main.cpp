// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Forgets nineteen of twenty pixels of a photograph, and fills them in from the others.
#include "app.h"
#include "interpolate.h"
#include "reference.h"

namespace {

app::Image<float> forget_most(const app::Picture &picture) {
    app::Image<float> sparse(picture.width(), picture.height(), 4);
    uint32_t state = 1;
    for (int y = 0; y < picture.height(); y++) {
        for (int x = 0; x < picture.width(); x++) {
            state = state * 1664525u + 1013904223u;
            const bool is_kept = (state >> 16) % 20 == 0;
            for (int c = 0; c < 3; c++) {
                sparse(x, y, c) = is_kept ? float(picture(x, y, c)) / 255 : 0;
            }
            sparse(x, y, 3) = is_kept ? 1.0f : 0.0f;
        }
    }
    return sparse;
}

}  // namespace

int main(int argc, char **argv) {
    return app::run("interpolate", argc, argv, [](app::Run &run, const app::Picture &picture) {
        app::Image<float> input = forget_most(picture);
        app::Image<float> output(input.width(), input.height(), 3);
        run.call(output, [&] { return interpolate(input, output); });
        run.compare(output, interpolate_reference(input), 1e-5);
        run.show(output);
    });
}
