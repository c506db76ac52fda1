// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the corners in a photograph, and draws them as red crosses on it.
#include "app.h"
#include "harris.h"
#include "reference.h"

namespace {

bool is_corner(const app::Image<float, 2> &response, int x, int y) {
    for (int i = -3; i <= 3; i++) {
        for (int j = -3; j <= 3; j++) {
            if (response(x + j, y + i) > response(x, y)) {
                return false;
            }
        }
    }
    return response(x, y) > 2e-3f;
}

app::Picture draw_corners(const app::Image<float, 2> &response, const app::Picture &picture) {
    app::Picture drawn = picture.copy();
    for (int y = 3; y < picture.height() - 3; y++) {
        for (int x = 3; x < picture.width() - 3; x++) {
            for (int i = -3; i <= 3 && is_corner(response, x, y); i++) {
                for (int c = 0; c < 3; c++) {
                    drawn(x + i, y, c) = drawn(x, y + i, c) = c == 0 ? 255 : 0;
                }
            }
        }
    }
    return drawn;
}

}  // namespace

int main(int argc, char **argv) {
    return app::run("harris", argc, argv, [](app::Run &run, const app::Picture &picture) {
        app::Image<float> input = app::from_picture<float>(picture);
        app::Image<float, 2> output(input.width(), input.height());
        run.call(output, [&] { return harris(input, output); });
        run.compare(output, harris_reference(input), 1e-5);
        run.show(draw_corners(output, picture));
    });
}
