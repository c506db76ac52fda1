// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Takes a pattern of stripes out of a photograph: in its spectrum it is two points.
#include "app.h"
#include "fft.h"
#include "reference.h"

namespace {

constexpr int size = 256, stripes_x = 40, stripes_y = 24;

/// The brightness of a square of the photograph, striped; it is continued by its edge.
app::Image<float> with_stripes(const app::Picture &picture) {
    app::Image<float, 2> gray = app::gray_from_picture<float>(picture);
    app::Image<float> image(size, size, 2);
    image.fill(0);
    const int x0 = std::max(0, (gray.width() - size) / 2);
    const int y0 = std::max(0, (gray.height() - size) / 2);
    for (int y = 0; y < size; y++) {
        for (int x = 0; x < size; x++) {
            const double phase = 2 * M_PI * (stripes_x * x + stripes_y * y) / size;
            image(x, y, 0) = 0.15f * float(1 + std::cos(phase)) +
                             0.7f * gray(app::clamped(x0 + x, gray.width()),
                                         app::clamped(y0 + y, gray.height()));
        }
    }
    return image;
}

void remove_stripes(app::Image<float> &spectrum) {
    for (int sign : {-1, 1}) {
        const int x = (sign * stripes_x + size) % size, y = (sign * stripes_y + size) % size;
        spectrum(x, y, 0) = spectrum(x, y, 1) = 0;
    }
}

/// Forwards with both parts exchanged is backwards, but for a factor.
app::Image<float> exchanged(const app::Image<float> &image, float factor) {
    app::Image<float> result = app::same_size<float>(image);
    image.for_each_element(
        [&](int x, int y, int c) { result(x, y, c) = image(x, y, 1 - c) * factor; });
    return result;
}

}  // namespace

int main(int argc, char **argv) {
    return app::run("fft", argc, argv, [](app::Run &run, const app::Picture &picture) {
        app::Image<float> input = with_stripes(picture);
        app::Image<float> spectrum = app::same_size<float>(input);
        run.call(spectrum, [&] { return fft(input, spectrum); });
        run.compare(spectrum, fft_reference(input), 2e-3);
        remove_stripes(spectrum);
        app::Image<float> back = exchanged(spectrum, 1.0f / (size * size));
        app::Image<float> output = app::same_size<float>(back);
        run.call(output, [&] { return fft(back, output); });
        run.compare(output, fft_reference(back), 1e-4);
        run.show(app::Image<float, 2>(exchanged(output, 1).sliced(2, 0)));
    });
}
