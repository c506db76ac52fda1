// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Non-local means: a pixel becomes the mean of those around it whose own surroundings look alike.
#include <calotype/calotype.h>

class NlMeans : public calotype::Generator<NlMeans> {
public:
    GeneratorParam<int> patch{"patch", 5, 1, 31};     ///< width of what is compared, odd
    GeneratorParam<int> search{"search", 11, 1, 63};  ///< width of where is looked, odd

    Input<Buffer<float, 3>> input{"input"};     ///< x, y, 3 channels, values from 0 to 1
    Input<float> sigma{"sigma", 0.1f};          ///< of the noise
    Output<Buffer<float, 3>> output{"output"};  ///< same size

    void generate() {
        Func in = calotype::BoundaryConditions::repeat_edge(input);

        const int reach = patch / 2, far = search / 2;

        // How the patches around a pixel and around its neighbour at (dx, dy) differ.
        Expr d[3], square = 0.0f;
        for (int i = 0; i < 3; i++) {
            d[i] = in(x, y, i) - in(x + dx, y + dy, i);
            square += d[i] * d[i];
        }
        squares(x, y, dx, dy) = square;
        Expr row = 0.0f, distance = 0.0f;
        for (int i = -reach; i <= reach; i++) {
            row += squares(x + i, y, dx, dy);
        }
        rows(x, y, dx, dy) = row;
        for (int i = -reach; i <= reach; i++) {
            distance += rows(x, y + i, dx, dy);
        }
        Expr scale = -1.0f / (3.0f * patch * patch * sigma * sigma);
        weight(x, y, dx, dy) = calotype::fast_exp(distance * scale);

        // The weighted sums of the three channels, and of the weights.
        s = calotype::RDom(-far, int(search), -far, int(search), "s");
        Expr w = weight(x, y, s.x, s.y);
        Expr neighbour[3];
        for (int i = 0; i < 3; i++) {
            neighbour[i] = in(x + s.x, y + s.y, i);
        }
        sums(x, y) = calotype::Tuple(0.0f, 0.0f, 0.0f, 0.0f);
        sums(x, y) =
            calotype::Tuple(sums(x, y)[0] + w * neighbour[0], sums(x, y)[1] + w * neighbour[1],
                            sums(x, y)[2] + w * neighbour[2], sums(x, y)[3] + w);
        output(x, y, c) =
            calotype::mux(c, {sums(x, y)[0], sums(x, y)[1], sums(x, y)[2]}) / sums(x, y)[3];

        input.set_estimates({{0, 614}, {0, 1024}, {0, 3}});
        sigma.set_estimate(0.12f);
        output.set_estimates({{0, 614}, {0, 1024}, {0, 3}});
    }

    void schedule() {
        if (using_autoscheduler()) {
            return;
        }
        output.bound(c, 0, 3).reorder(c, x, y).unroll(c);
        if (get_target().has_gpu_feature()) {
            schedule_for_gpu();
            return;
        }
        // All offsets are tried on a tile before the next tile: what is read and made for one
        // offset stays in the first-level cache.
        const int lanes = natural_vector_size<float>();
        output.tile(x, y, xi, yi, 4 * lanes, 16).parallel(y).vectorize(xi, lanes);
        sums.compute_at(output, x).vectorize(x, lanes);
        sums.update().reorder(x, y, s.x, s.y).vectorize(x, lanes);
        rows.compute_at(sums, s.x).vectorize(x, lanes);
        squares.compute_at(sums, s.x).vectorize(x, lanes);
    }

private:
    void schedule_for_gpu() {
        // Sums stay in registers; squares and their rows are shared by the threads of a block.
        const int width = 32, height = 16;
        output.tile(x, y, xi, yi, width, height, TailStrategy::GuardWithIf)
            .gpu_blocks(x, y)
            .gpu_threads(xi, yi);
        sums.compute_at(output, x)
            .bound_extent(x, width)
            .bound_extent(y, height)
            .store_in(MemoryType::Register)
            .gpu_threads(x, y);
        sums.update().reorder(x, y, s.x, s.y).gpu_threads(x, y);
        rows.compute_at(sums, s.x).gpu_threads(x, y);
        squares.compute_at(sums, s.x).gpu_threads(x, y);
    }

    Var x{"x"}, y{"y"}, c{"c"}, dx{"dx"}, dy{"dy"}, xi{"xi"}, yi{"yi"};
    calotype::RDom s;
    Func squares{"squares"}, rows{"rows"}, weight{"weight"}, sums{"sums"};
};

CALOTYPE_REGISTER_GENERATOR(NlMeans, nl_means)
