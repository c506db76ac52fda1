// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blurs the brightness of a photograph, twelve times.
#include "app.h"
#include "reference.h"
#include "stencil_chain.h"

int main(int argc, char **argv) {
    return app::run("stencil_chain", argc, argv, [](app::Run &run, const app::Picture &picture) {
        app::Image<uint8_t, 2> gray = app::gray_from_picture<uint8_t>(picture);
        app::Image<uint16_t, 2> input = app::same_size<uint16_t>(gray);
        input.for_each_element([&](int x, int y) { input(x, y) = gray(x, y); });
        app::Image<uint16_t, 2> output = app::same_size<uint16_t>(input);
        run.call(output, [&] { return stencil_chain(input, output); });
        run.compare(output, stencil_chain_reference(input), 0);
        gray.for_each_element([&](int x, int y) { gray(x, y) = uint8_t(output(x, y)); });
        run.show(gray);
    });
}
