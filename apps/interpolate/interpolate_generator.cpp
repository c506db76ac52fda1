// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fills the holes of an image from what surrounds them, by pyramids of weighted means.
#include <calotype/calotype.h>

#include <string>
#include <vector>

class Interpolate : public calotype::Generator<Interpolate> {
public:
    GeneratorParam<int> levels{"levels", 8, 2,
                               16};  ///< of the pyramids; holes are filled to 2^levels

    Input<Buffer<float, 3>> input{"input"};     ///< x, y, 3 colours and the weight, from 0 to 1
    Output<Buffer<float, 3>> output{"output"};  ///< same size, 3 colours

    void generate() {
        // Pull: sums of weighted colours, and of weights, of ever larger surroundings.
        Func edge = calotype::BoundaryConditions::repeat_edge(input);
        for (int i = 0; i < levels; i++) {
            pulled.emplace_back("pulled_" + std::to_string(i));
            across.emplace_back("across_" + std::to_string(i));
            pushed.emplace_back("pushed_" + std::to_string(i));
        }
        pulled[0](x, y, c) = calotype::select(c < 3, edge(x, y, c), 1.0f) * edge(x, y, 3);
        for (int i = 1; i < levels; i++) {
            Func finer = within(pulled[i - 1], i - 1);
            across[i](x, y, c) =
                (finer(x, 2 * y - 1, c) + 2.0f * finer(x, 2 * y, c) + finer(x, 2 * y + 1, c)) *
                0.25f;
            pulled[i](x, y, c) = (across[i](2 * x - 1, y, c) + 2.0f * across[i](2 * x, y, c) +
                                  across[i](2 * x + 1, y, c)) *
                                 0.25f;
        }

        // Push: what a level lacks in weight comes from the next coarser one.
        pushed[levels - 1](x, y, c) = pulled[levels - 1](x, y, c);
        for (int i = levels - 2; i >= 0; i--) {
            Func coarser = within(pushed[i + 1], i + 1);
            Expr sum = coarser(x / 2, y / 2, c) + coarser((x + 1) / 2, y / 2, c) +
                       coarser(x / 2, (y + 1) / 2, c) + coarser((x + 1) / 2, (y + 1) / 2, c);
            pushed[i](x, y, c) = pulled[i](x, y, c) + (1.0f - pulled[i](x, y, 3)) * (sum * 0.25f);
        }
        output(x, y, c) = pushed[0](x, y, c) / pushed[0](x, y, 3);

        input.dim(0).set_min(0);
        input.dim(1).set_min(0);
        input.set_estimates({{0, 1536}, {0, 2560}, {0, 4}});
        output.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
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
        output.bound(c, 0, 3)
            .reorder(c, x, y)
            .unroll(c)
            .split(y, y, yi, 8)
            .parallel(y)
            .vectorize(x, lanes);
        pushed[0].compute_at(output, x).vectorize(x).unroll(c);
        for (int i = 1; i < levels; i++) {
            // Coarse levels are too small to be worth tasks.
            pulled[i].compute_root().reorder(x, c, y).vectorize(x, lanes,
                                                                TailStrategy::GuardWithIf);
            pushed[i].compute_root().reorder(x, c, y).vectorize(x, lanes,
                                                                TailStrategy::GuardWithIf);
            across[i].compute_at(pulled[i], y).vectorize(x, lanes);
            if (i < 4) {
                pulled[i].parallel(y, 8);
                pushed[i].parallel(y, 8);
            }
        }
    }

private:
    void schedule_for_gpu() {
        Var xi{"xi"}, yi{"yi"};
        output.bound(c, 0, 3).reorder(c, x, y).unroll(c).gpu_tile(x, y, xi, yi, 32, 8);
        pushed[0].compute_at(output, xi).unroll(c);
        for (int i = 1; i < levels; i++) {
            // Channels are blocks of their own, which is what keeps a GPU busy on coarse levels.
            const int width = i < 4 ? 32 : 8;
            pulled[i].compute_root().gpu_blocks(c).gpu_tile(x, y, xi, yi, width, 8);
            pushed[i].compute_root().gpu_blocks(c).gpu_tile(x, y, xi, yi, width, 8);
        }
    }

    /// A level is half as large as the one before it, and continued by its edge.
    Func within(Func f, int level) {
        if (level == 0) {
            return f;
        }
        const int scale = 1 << level;
        Expr width = (input.width() + (scale - 1)) / scale;
        Expr height = (input.height() + (scale - 1)) / scale;
        return calotype::BoundaryConditions::repeat_edge(f, {{0, width}, {0, height}});
    }

    Var x{"x"}, y{"y"}, c{"c"}, yi{"yi"};
    std::vector<Func> pulled, across, pushed;
};

CALOTYPE_REGISTER_GENERATOR(Interpolate, interpolate)
