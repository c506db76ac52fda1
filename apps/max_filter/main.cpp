// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dilates a photograph by a disc: bright spots become round patches.
#include "app.h"
#include "max_filter.h"
#include "reference.h"

int main(int argc, char **argv) {
    return app::run("max_filter", argc, argv, [](app::Run &run, const app::Picture &picture) {
        app::Image<float> input = app::from_picture<float>(picture);
        app::Image<float> output = app::same_size<float>(input);
        run.call(output, [&] { return max_filter(input, output); });
        run.compare(output, max_filter_reference(input), 0);
        run.show(output);
    });
}
