// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes a photograph smaller and larger.
#include "app.h"
#include "reference.h"
#include "resize.h"

int main(int argc, char **argv) {
    return app::run("resize", argc, argv, [](app::Run &run, const app::Picture &picture) {
        app::Image<float> input = app::from_picture<float>(picture);
        for (float scale : {0.4f, 1.7f}) {
            const int width = int(float(input.width()) * scale);
            const int height = int(float(input.height()) * scale);
            app::Image<float> output(width, height, 3);
            run.call(output, [&] { return resize(input, scale, output); });
            run.compare(output, resize_reference(input, scale, width, height), 1e-3);
            run.show(output);
        }
    });
}
