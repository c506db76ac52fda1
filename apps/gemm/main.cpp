// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blurs a photograph by two products with matrices, and sharpens it by subtracting that: all that is
// linear in rows and columns is a product.
#include "app.h"
#include "gemm.h"
#include "reference.h"

namespace {

/// A Gaussian around the diagonal.
Matrix smoothing(int extent) {
    Matrix m(extent, extent);
    m.for_each_element([&](int x, int y) {
        const double sigma = 2, d = (x - y) / sigma;
        m(x, y) = float(std::exp(-0.5 * d * d) / (sigma * std::sqrt(2 * M_PI)));
    });
    return m;
}

}  // namespace

int main(int argc, char **argv) {
    return app::run("gemm", argc, argv, [](app::Run &run, const app::Picture &picture) {
        Matrix image = app::gray_from_picture<float>(picture);
        Matrix down = smoothing(image.height()), across = smoothing(image.width());
        Matrix half = app::same_size<float>(image), output = app::same_size<float>(image);
        run.call(half, [&] { return gemm(1, down, image, 0, image, half); });
        run.compare(half, gemm_reference(1, down, image, 0, image), 1e-5);
        // output = 2.5 image - 1.5 blurred
        run.call(output, [&] { return gemm(-1.5f, half, across, 2.5f, image, output); });
        run.compare(output, gemm_reference(-1.5f, half, across, 2.5f, image), 1e-5);
        run.show(output);
    });
}
