// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One layer on a photograph: its first three channels find edges of three directions, the others
// have arbitrary weights.
#include "app.h"
#include "conv_layer.h"
#include "reference.h"

namespace {

constexpr int outputs = 37;

/// Derivatives in three directions, the same of all colours.
Tensor make_filter(int inputs) {
    Tensor filter(outputs, inputs, 3, 3);
    uint32_t state = 1;
    filter.for_each_element([&](int c, int k, int x, int y) {
        const float across = float(x - 1), down = float(y - 1);
        const float slope[3] = {across, 0.5f * across - 0.87f * down,
                                -0.5f * across - 0.87f * down};
        state = state * 1664525u + 1013904223u;
        filter(c, k, x, y) = c < 3 ? slope[c] : float(state >> 8) * 0x1p-24f - 0.5f;
    });
    return filter;
}

Tensor as_tensor(const app::Image<float> &image) {
    Tensor tensor(image.channels(), image.width(), image.height(), 1);
    tensor.for_each_element([&](int c, int x, int y, int) { tensor(c, x, y, 0) = image(x, y, c); });
    return tensor;
}

}  // namespace

int main(int argc, char **argv) {
    return app::run("conv_layer", argc, argv, [](app::Run &run, const app::Picture &picture) {
        Tensor input = as_tensor(app::from_picture<float>(picture));
        Tensor filter = make_filter(picture.channels());
        app::Image<float, 1> bias(outputs);
        bias.for_each_element([&](int c) { bias(c) = c < 3 ? 0 : 0.01f * float(c); });
        Tensor output(outputs, picture.width() - 2, picture.height() - 2, 1);
        run.call(output, [&] { return conv_layer(input, filter, bias, output); });
        run.compare(output, conv_layer_reference(input, filter, bias), 1e-5);

        app::Image<float> edges(output.dim(1).extent(), output.dim(2).extent(), 3);
        edges.for_each_element([&](int x, int y, int c) { edges(x, y, c) = output(c, x, y, 0); });
        run.show(edges);
    });
}
