// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Smooths the brightness of a photograph and keeps its edges.
#include "app.h"
#include "bilateral_grid.h"
#include "reference.h"

int main(int argc, char **argv) {
    return app::run("bilateral_grid", argc, argv, [](app::Run &run, const app::Picture &picture) {
        const float range = 0.1f;
        app::Image<float, 2> input = app::gray_from_picture<float>(picture);
        app::Image<float, 2> output = app::same_size<float>(input);
        run.call(output, [&] { return bilateral_grid(input, range, output); });
        run.compare(output, BilateralGridReference(input, range).run(), 1e-4);
        run.show(output);
    });
}
