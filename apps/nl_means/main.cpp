// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Adds noise to a photograph, and takes it out again.
#include "app.h"
#include "nl_means.h"
#include "reference.h"

namespace {

/// Sums of uniform noise, which are nearly normal.
app::Image<float> with_noise(const app::Picture &picture, float sigma) {
    app::Image<float> noisy = app::from_picture<float>(picture);
    uint32_t state = 1;
    noisy.for_each_value([&](float &v) {
        float noise = -2;
        for (int i = 0; i < 4; i++) {
            state = state * 1664525u + 1013904223u;
            noise += float(state >> 8) * 0x1p-24f;
        }
        v += noise * sigma * 1.73f;
    });
    return noisy;
}

}  // namespace

int main(int argc, char **argv) {
    return app::run("nl_means", argc, argv, [](app::Run &run, const app::Picture &picture) {
        const float sigma = 0.08f;
        app::Image<float> input = with_noise(picture, sigma);
        app::Image<float> output = app::same_size<float>(input);
        run.call(output, [&] { return nl_means(input, sigma, output); });
        // An approximation of the exponential is within 1e-4 of it.
        run.compare(output, nl_means_reference(input, sigma), 1e-3);
        run.show(output);
    });
}
