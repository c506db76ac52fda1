// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The Harris corner detector: where an image changes in all directions.
#include <calotype/calotype.h>

class Harris : public calotype::Generator<Harris> {
public:
    Input<Buffer<float, 3>> input{"input"};     ///< x, y, 3 channels, values from 0 to 1
    Output<Buffer<float, 2>> output{"output"};  ///< same size: large at corners, negative at edges

    void generate() {
        Func edge = calotype::BoundaryConditions::repeat_edge(input);
        gray(x, y) = 0.299f * edge(x, y, 0) + 0.587f * edge(x, y, 1) + 0.114f * edge(x, y, 2);

        // Sobel's derivatives.
        const auto at = [&](int dx, int dy) {
            return gray(x + dx, y + dy);
        };
        dx(x, y) = (at(1, -1) - at(-1, -1) + 2.0f * (at(1, 0) - at(-1, 0)) + at(1, 1) - at(-1, 1)) *
                   (1.0f / 8);
        dy(x, y) = (at(-1, 1) - at(-1, -1) + 2.0f * (at(0, 1) - at(0, -1)) + at(1, 1) - at(1, -1)) *
                   (1.0f / 8);

        // Their covariances around each pixel.
        Expr xx = sum_3x3(dx, dx), xy = sum_3x3(dx, dy), yy = sum_3x3(dy, dy);
        output(x, y) = xx * yy - xy * xy - 0.04f * (xx + yy) * (xx + yy);

        input.set_estimates({{0, 2560}, {0, 1600}, {0, 3}});
        output.set_estimates({{0, 2560}, {0, 1600}});
    }

    void schedule() {
        if (using_autoscheduler()) {
            return;
        }
        if (get_target().has_gpu_feature()) {
            schedule_for_gpu();
            return;
        }
        const int lanes = natural_vector_size<float>();
        output.split(y, y, yi, 32).parallel(y).vectorize(x, lanes);
        gray.store_at(output, y).compute_at(output, yi).vectorize(x, lanes);
        dx.store_at(output, y).compute_at(output, yi).vectorize(x, lanes);
        dy.store_at(output, y).compute_at(output, yi).vectorize(x, lanes).compute_with(dx, x);
    }

private:
    void schedule_for_gpu() {
        // A block keeps the grey values of its tile in shared memory, a thread the derivatives
        // around its column of four pixels in registers.
        Var xi{"xi"}, yr{"yr"}, t{"t"};
        const int width = 32, rows = 4, height = 8 * rows;
        output.tile(x, y, xi, yi, width, height)
            .split(yi, yi, yr, rows)
            .reorder(yr, xi, yi, x, y)
            .unroll(yr)
            .fuse(xi, yi, t)
            .gpu_blocks(x, y)
            .gpu_threads(t);
        gray.compute_at(output, x)
            .split(y, y, yr, (height + 4) / 6)
            .reorder(yr, x, y)
            .unroll(yr)
            .fuse(x, y, t)
            .gpu_threads(t);
        dx.compute_at(output, t).unroll(x).unroll(y);
        dy.compute_at(output, t).unroll(x).unroll(y);
    }

    Expr sum_3x3(Func f, Func g) {
        Expr sum = 0.0f;
        for (int i = -1; i <= 1; i++) {
            for (int j = -1; j <= 1; j++) {
                sum += f(x + j, y + i) * g(x + j, y + i);
            }
        }
        return sum;
    }

    Var x{"x"}, y{"y"}, yi{"yi"};
    Func gray{"gray"}, dx{"dx"}, dy{"dy"};
};

CALOTYPE_REGISTER_GENERATOR(Harris, harris)
