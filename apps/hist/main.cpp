// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Equalises the histogram of a photograph.
#include "app.h"
#include "hist.h"
#include "reference.h"

int main(int argc, char **argv) {
    return app::run("hist", argc, argv, [](app::Run &run, const app::Picture &picture) {
        app::Image<uint8_t> input = app::from_picture<uint8_t>(picture);
        app::Image<uint8_t> output = app::same_size<uint8_t>(input);
        run.call(output, [&] { return hist(input, output); });
        run.compare(output, hist_reference(input), 0);
        run.show(output);
    });
}
