// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads that load and store vectors of neighbours, overlapping ones among them, of buffers whose
// rows may begin anywhere.
#include <calotype/calotype.h>

using namespace calotype;

namespace {

/** Sums of 3 x 3, borders repeated, 16 bytes and three rows a thread; tiles at the end of a row and
 * of a column are shifted inwards. */
class Wide : public Generator<Wide> {
public:
    GeneratorParam<Type> type{"type", UInt(16)};
    Input<Buffer<void, 2>> input{"input"};
    Output<Buffer<void, 2>> output{"output"};

    void configure() {
        input.set_type(type);
        output.set_type(type);
    }

    void generate() {
        Var x("x"), y("y"), xi("xi"), yi("yi"), xv("xv"), yt("yt");
        Func in = BoundaryConditions::repeat_edge(input), row("row");
        row(x, y) = in(x - 1, y) + in(x, y) + in(x + 1, y);
        output(x, y) = row(x, y - 1) + row(x, y) + row(x, y + 1);
        const int lanes = 16 / type.value().bytes();
        output.split(x, x, xv, lanes)
            .split(x, x, xi, 4)
            .split(y, y, yi, 3)
            .split(y, y, yt, 2)
            .reorder(xv, yi, xi, yt, x, y)
            .vectorize(xv)
            .unroll(yi)
            .gpu_blocks(x, y)
            .gpu_threads(xi, yt);
        row.compute_at(output, xi).vectorize(x).unroll(y);
    }
};

}  // namespace

CALOTYPE_REGISTER_GENERATOR(Wide, wide)
