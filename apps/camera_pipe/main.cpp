// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes what a sensor would have read of a photograph, with a few hot pixels, and develops it.
#include "app.h"
#include "camera_pipe.h"
#include "reference.h"

namespace {

/// The photograph as a sensor sees it: darker by the curve, its colours washed out by the filters,
/// one colour a pixel.
CameraPipeReference::Raw expose(const app::Picture &picture) {
    CameraPipeReference::Raw raw(picture.width(), picture.height());
    raw.for_each_element([&](int x, int y) {
        const int own = (x & 1) + (y & 1);
        double light = 0;
        for (int c = 0; c < 3; c++) {
            const double linear = std::pow(picture(x, y, c) / 255.0, 2.2);
            light += linear * (c == own ? 0.7 : 0.15);
        }
        const bool is_hot = (x * 7919 + y * 104729) % 5003 == 0;
        raw(x, y) = uint16_t(is_hot ? 1023 : light * 1023);
    });
    return raw;
}

/// The inverse of how expose() mixes colours.
app::Image<float, 2> sensor_matrix() {
    app::Image<float, 2> matrix(3, 3);
    matrix.for_each_element([&](int x, int y) { matrix(x, y) = x == y ? 1.545f : -0.2725f; });
    return matrix;
}

}  // namespace

int main(int argc, char **argv) {
    return app::run("camera_pipe", argc, argv, [](app::Run &run, const app::Picture &picture) {
        CameraPipeReference::Raw input = expose(picture);
        app::Image<float, 2> matrix = sensor_matrix();
        const float gamma = 2.2f, contrast = 20, sharpen = 0.75f;
        app::Image<uint8_t> output(input.width(), input.height(), 3);
        run.call(output,
                 [&] { return camera_pipe(input, matrix, gamma, contrast, sharpen, output); });
        // A step of the curve may be rounded to the other side, and sharpening can double that.
        run.compare(output, CameraPipeReference(input, matrix, gamma, contrast, sharpen).run(), 2);
        run.show(output);
    });
}
