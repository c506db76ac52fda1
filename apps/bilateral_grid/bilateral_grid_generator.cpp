// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An edge-preserving blur by way of a coarse grid of positions and intensities.
#include <calotype/calotype.h>

class BilateralGrid : public calotype::Generator<BilateralGrid> {
public:
    GeneratorParam<int> cell{"cell", 8, 2, 64};  ///< pixels along a side of a cell of the grid

    Input<Buffer<float, 2>> input{"input"};     ///< x, y, values from 0 to 1
    Input<float> range{"range", 0.1f};          ///< how much intensity a cell spans, more than 0
    Output<Buffer<float, 2>> output{"output"};  ///< same size

    void generate() {
        Func edge = calotype::BoundaryConditions::repeat_edge(input);
        value(x, y) = calotype::clamp(edge(x, y), 0.0f, 1.0f);

        // Every pixel adds its value and a 1 to the cell that it is nearest to.
        r = calotype::RDom(0, int(cell), 0, int(cell), "r");
        Expr pixel = value(x * cell + r.x - cell / 2, y * cell + r.y - cell / 2);
        grid(x, y, z, c) = 0.0f;
        grid(x, y, cast<int>(pixel * (1.0f / range) + 0.5f), c) +=
            calotype::select(c == 0, pixel, 1.0f);

        blur_z(x, y, z, c) = smooth([&](int i) { return grid(x, y, z + i, c); });
        blur_x(x, y, z, c) = smooth([&](int i) { return blur_z(x + i, y, z, c); });
        blur_y(x, y, z, c) = smooth([&](int i) { return blur_x(x, y + i, z, c); });

        // A pixel's result is the mean around its place in the grid.
        Expr depth = value(x, y) * (1.0f / range);
        Expr cx = x / cell, cy = y / cell, cz = cast<int>(depth);
        Expr fx = cast<float>(x % cell) / float(cell), fy = cast<float>(y % cell) / float(cell);
        Expr fz = depth - cast<float>(cz);
        const auto in_plane = [&](Expr at_z) {
            Expr top = calotype::lerp(blur_y(cx, cy, at_z, c), blur_y(cx + 1, cy, at_z, c), fx);
            Expr bottom =
                calotype::lerp(blur_y(cx, cy + 1, at_z, c), blur_y(cx + 1, cy + 1, at_z, c), fx);
            return calotype::lerp(top, bottom, fy);
        };
        sliced(x, y, c) = calotype::lerp(in_plane(cz), in_plane(cz + 1), fz);
        output(x, y) = sliced(x, y, 0) / sliced(x, y, 1);

        input.set_estimates({{0, 1536}, {0, 2560}});
        range.set_estimate(0.1f);
        output.set_estimates({{0, 1536}, {0, 2560}});
    }

    void schedule() {
        if (using_autoscheduler()) {
            return;
        }
        if (get_target().has_gpu_feature()) {
            schedule_for_gpu();
            return;
        }
        // The grid is small: what counts are the pixels, read once to fill it and once to look
        // into it.
        const int lanes = natural_vector_size<float>();
        blur_z.compute_root().reorder(x, z, c, y).parallel(y).vectorize(x, lanes);
        grid.compute_at(blur_z, y).vectorize(x, lanes);
        grid.update().reorder(c, r.x, r.y, x, y).unroll(c);
        blur_x.compute_root().reorder(x, z, c, y).parallel(y).vectorize(x, lanes);
        blur_y.compute_root().reorder(x, z, c, y).parallel(y).vectorize(x, lanes);
        output.parallel(y, 8).vectorize(x, lanes);
    }

private:
    void schedule_for_gpu() {
        Var xi{"xi"}, yi{"yi"};
        // A thread fills one column of the grid, in memory of its block, and smooths it.
        blur_z.compute_root()
            .bound(c, 0, 2)
            .reorder(z, c, x, y)
            .unroll(c)
            .gpu_tile(x, y, xi, yi, 8, 8);
        grid.compute_at(blur_z, x).reorder(z, c, x, y).gpu_threads(x, y);
        grid.update().reorder(c, r.x, r.y, x, y).unroll(c).gpu_threads(x, y);
        for (Func f : {blur_x, blur_y}) {
            f.compute_root()
                .bound(c, 0, 2)
                .reorder(c, x, y, z)
                .unroll(c)
                .gpu_blocks(z)
                .gpu_tile(x, y, xi, yi, 16, 8);
        }
        output.gpu_tile(x, y, xi, yi, 32, 8);
    }

    /// The binomial filter 1 4 6 4 1; its sum cancels in the end.
    template<typename Sample>
    Expr smooth(Sample sample) {
        return sample(-2) + sample(2) + 4.0f * (sample(-1) + sample(1)) + 6.0f * sample(0);
    }

    Var x{"x"}, y{"y"}, z{"z"}, c{"c"};
    calotype::RDom r;
    Func value{"value"}, grid{"grid"}, blur_z{"blur_z"}, blur_x{"blur_x"}, blur_y{"blur_y"},
        sliced{"sliced"};
};

CALOTYPE_REGISTER_GENERATOR(BilateralGrid, bilateral_grid)
