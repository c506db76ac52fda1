// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transforms the brightness of a photograph and back again. Shows the four bands.
#include "app.h"
#include "inverse_wavelet.h"
#include "reference.h"
#include "wavelet.h"

namespace {

/// The bands beside and above each other: sums at half their brightness, differences around gray.
app::Image<float, 2> side_by_side(const app::Image<float> &bands) {
    const int width = bands.width(), height = bands.height();
    app::Image<float, 2> picture(2 * width, 2 * height);
    bands.for_each_element([&](int x, int y, int b) {
        const float value = bands(x, y, b);
        picture(x + b % 2 * width, y + b / 2 * height) = b == 0 ? value / 2 : 0.5f + 4 * value;
    });
    return picture;
}

}  // namespace

int main(int argc, char **argv) {
    return app::run("wavelet", argc, argv, [](app::Run &run, const app::Picture &picture) {
        const int width = picture.width() / 2, height = picture.height() / 2;
        app::Image<float, 2> input =
            app::gray_from_picture<float>(app::part_of(picture, 2 * width, 2 * height));
        app::Image<float> bands(width, height, 4);
        run.call(bands, [&] { return wavelet(input, bands); });
        run.compare(bands, wavelet_reference(input), 1e-5);
        app::Image<float, 2> output = app::same_size<float>(input);
        bands.set_host_dirty();
        run.call(output, [&] { return inverse_wavelet(bands, output); });
        run.compare(output, input, 1e-5);
        run.show(side_by_side(bands));
    });
}
