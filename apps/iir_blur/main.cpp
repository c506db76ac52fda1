// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blurs a photograph widely.
#include "app.h"
#include "iir_blur.h"
#include "reference.h"

int main(int argc, char **argv) {
    return app::run("iir_blur", argc, argv, [](app::Run &run, const app::Picture &picture) {
        const float alpha = 0.15f;
        app::Image<float> input = app::from_picture<float>(picture);
        app::Image<float> output = app::same_size<float>(input);
        run.call(output, [&] { return iir_blur(input, alpha, output); });
        run.compare(output, iir_blur_reference(input, alpha), 1e-5);
        run.show(output);
    });
}
