// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The brightest pixel within a disc around each pixel: a dilation.
#include <calotype/calotype.h>

#include <cmath>
#include <string>
#include <vector>

class MaxFilter : public calotype::Generator<MaxFilter> {
public:
    GeneratorParam<int> radius{"radius", 15, 1, 63};  ///< of the disc, in pixels

    Input<Buffer<float, 3>> input{"input"};     ///< x, y, channels
    Output<Buffer<float, 3>> output{"output"};  ///< same size

    void generate() {
        // runs[i] has the maxima of 2^i pixels below each other.
        runs.emplace_back("runs_0");
        runs[0](x, y, c) = calotype::BoundaryConditions::repeat_edge(input)(x, y, c);
        for (int i = 1; (2 << i) <= 2 * height(0) + 1 + (1 << i); i++) {
            runs.emplace_back("runs_" + std::to_string(i));
            runs[i](x, y, c) =
                calotype::max(runs[i - 1](x, y, c), runs[i - 1](x, y + (1 << (i - 1)), c));
        }

        // Two runs cover a column of the disc, though they overlap; a maximum does not mind.
        Expr brightest;
        for (int dx = -int(radius); dx <= radius; dx++) {
            const int h = height(dx);
            int i = 0;
            while ((2 << i) <= 2 * h + 1) {
                i++;
            }
            Expr column =
                calotype::max(runs[i](x + dx, y - h, c), runs[i](x + dx, y + h + 1 - (1 << i), c));
            brightest = brightest.defined() ? calotype::max(brightest, column) : column;
        }
        output(x, y, c) = brightest;

        input.set_estimates({{0, 1920}, {0, 1024}, {0, 3}});
        output.set_estimates({{0, 1920}, {0, 1024}, {0, 3}});
    }

    void schedule() {
        if (using_autoscheduler()) {
            return;
        }
        Var xi{"xi"}, yi{"yi"}, yr{"yr"}, t{"t"};
        if (get_target().has_gpu_feature()) {
            output.split(x, x, xi, 32)
                .split(y, y, yi, 64)
                .split(yi, yi, yr, 8)
                .reorder(yr, xi, yi, x, y, c)
                .gpu_blocks(x, y, c)
                .gpu_threads(xi, yi)
                .unroll(yr);
            for (Func f : runs) {
                // One column of threads after the other: 62 of them.
                f.compute_at(output, x)
                    .split(y, y, yr, 8)
                    .reorder(yr, x, y)
                    .unroll(yr)
                    .gpu_threads(x, y);
            }
            return;
        }
        // A task makes a tile whose runs stay in the second-level cache.
        const int lanes = natural_vector_size<float>();
        output.tile(x, y, xi, yi, 4 * lanes, 128).parallel(y).parallel(c).vectorize(xi, lanes);
        for (Func f : runs) {
            f.compute_at(output, x).vectorize(x, lanes);
        }
    }

private:
    /// Of the disc at column dx, above and below its middle.
    int height(int dx) const {
        const float r = float(int(radius)) + 0.25f;
        return int(std::sqrt(r * r - float(dx * dx)));
    }

    Var x{"x"}, y{"y"}, c{"c"};
    std::vector<Func> runs;
};

CALOTYPE_REGISTER_GENERATOR(MaxFilter, max_filter)
