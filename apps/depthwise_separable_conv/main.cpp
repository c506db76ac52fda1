// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One layer on a photograph. Its channels are the three colours, three times: smoothed, and with
// their edges along either direction; the first three results mix them to an embossed picture, the
// others are arbitrary.
#include "app.h"
#include "depthwise_separable_conv.h"
#include "reference.h"

namespace {

constexpr int channels = 9, outputs = 35;

Tensor repeated(const app::Image<float> &image) {
    Tensor tensor(channels, image.width(), image.height(), 1);
    tensor.for_each_element(
        [&](int k, int x, int y, int) { tensor(k, x, y, 0) = image(x, y, k % 3); });
    return tensor;
}

float next_random() {
    static uint32_t state = 1;
    state = state * 1664525u + 1013904223u;
    return float(state >> 8) * 0x1p-24f - 0.5f;
}

}  // namespace

int main(int argc, char **argv) {
    app::Image<float, 3> depthwise(channels, 3, 3);
    depthwise.for_each_element([&](int k, int x, int y) {
        const float kinds[3] = {1.0f / 9, float(x - 1), float(y - 1)};
        depthwise(k, x, y) = kinds[k / 3];
    });
    app::Image<float, 2> pointwise(outputs, channels);
    pointwise.for_each_element([&](int c, int k) {
        const float emboss = k % 3 == c ? (k < 3 ? 0.5f : 0.4f) : 0;
        pointwise(c, k) = c < 3 ? emboss : next_random();
    });
    app::Image<float, 1> bias(outputs);
    bias.for_each_element([&](int c) { bias(c) = c < 3 ? 0.25f : next_random(); });

    return app::run(
        "depthwise_separable_conv", argc, argv, [&](app::Run &run, const app::Picture &picture) {
            Tensor input = repeated(app::from_picture<float>(picture));
            Tensor output(outputs, picture.width() - 2, picture.height() - 2, 1);
            run.call(output, [&] {
                return depthwise_separable_conv(input, depthwise, pointwise, bias, output);
            });
            run.compare(output,
                        depthwise_separable_conv_reference(input, depthwise, pointwise, bias),
                        1e-5);
            app::Image<float> embossed(output.dim(1).extent(), output.dim(2).extent(), 3);
            embossed.for_each_element(
                [&](int x, int y, int c) { embossed(x, y, c) = output(c, x, y, 0); });
            run.show(embossed);
        });
}
