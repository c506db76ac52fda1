// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes a pair of pictures from a photograph, as if its middle were near and the rest farther away
// the higher it is, and blurs what is not in focus.
#include "app.h"
#include "lens_blur.h"
#include "reference.h"

namespace {

int shift_of(const app::Picture &picture, int x, int y) {
    const double u = 2.0 * x / picture.width() - 1, v = 2.0 * y / picture.height() - 1;
    return u * u + v * v < 0.4 ? 11 : int(4 + 3 * v);
}

/// What the right eye sees: everything moved by its shift.
app::Picture right_of(const app::Picture &left) {
    app::Picture right = left.copy();
    for (int shift = 0; shift < 16; shift++) {  // what is near covers what is far
        right.for_each_element([&](int x, int y, int c) {
            const int from = app::clamped(x + shift, left.width());
            if (shift_of(left, from, y) == shift) {
                right(x, y, c) = left(from, y, c);
            }
        });
    }
    return right;
}

}  // namespace

int main(int argc, char **argv) {
    return app::run("lens_blur", argc, argv, [](app::Run &run, const app::Picture &picture) {
        app::Picture left = picture.copy(), right = right_of(picture);
        const float focus = 11, aperture = 1;
        app::Image<float> output = app::same_size<float>(left);
        run.call(output, [&] { return lens_blur(left, right, focus, aperture, output); });
        run.compare(output, LensBlurReference(left, right, focus, aperture).run(), 1e-4);
        output.for_each_value([](float &v) { v /= 255; });
        run.show(output);
    });
}
