// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A blur of any width at the same price: a recursive filter down and up the columns, then along the
// rows.
#include <calotype/calotype.h>

#include <string>
#include <vector>

class IirBlur : public calotype::Generator<IirBlur> {
public:
    Input<Buffer<float, 3>> input{"input"};  ///< x, y, channels
    Input<float> alpha{"alpha", 0.1f};  ///< how much a pixel counts, 0 to 1: the less, the wider
    Output<Buffer<float, 3>> output{"output"};  ///< same size

    void generate() {
        Expr width = input.width(), height = input.height();
        // Both passes go along columns: there, pixels side by side are independent of each other.
        Func across = turned_and_blurred(input, height, "first");
        Func back = turned_and_blurred(across, width, "second");
        output(x, y, c) = back(x, y, c);

        input.dim(0).set_min(0);
        input.dim(1).set_min(0);
        output.dim(0).set_bounds(0, width);
        output.dim(1).set_bounds(0, height);
        input.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
        alpha.set_estimate(0.1f);
        output.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
    }

    void schedule() {
        if (using_autoscheduler()) {
            return;
        }
        Var xi{"xi"}, yi{"yi"};
        const int lanes = natural_vector_size<float>();
        for (int i = 0; i < 2; i++) {
            Func turned = i == 1 ? Func(output) : passes[i].turned;
            Func blurred = passes[i].blurred;
            const calotype::RDom &r = passes[i].r;
            if (get_target().has_gpu_feature()) {
                // A thread has a column; neighbours read neighbours.
                turned.compute_root().gpu_blocks(c).gpu_tile(x, y, xi, yi, 16, 16);
                blurred.compute_root().gpu_blocks(c).gpu_tile(x, y, xi, yi, 32, 8);
                for (int j = 0; j < 2; j++) {
                    blurred.update(j).reorder(r, x, c).gpu_blocks(c).gpu_tile(
                        x, xi, 32, TailStrategy::GuardWithIf);
                }
                continue;
            }
            // A task has a strip of columns, which stays in the second-level cache, and writes it
            // as rows.
            turned.compute_root()
                .tile(x, y, xi, yi, lanes, 2 * lanes)
                .reorder(xi, yi, x, y, c)
                .vectorize(xi)
                .parallel(y)
                .parallel(c);
            blurred.compute_at(turned, y).bound_extent(x, 2 * lanes).vectorize(x, lanes);
            for (int j = 0; j < 2; j++) {
                blurred.update(j).reorder(x, r, c).vectorize(x, lanes, TailStrategy::GuardWithIf);
            }
        }
    }

private:
    struct Pass {
        Func blurred, turned;
        calotype::RDom r;
    };

    /// Blurs columns of `height` pixels and makes rows of them.
    Func turned_and_blurred(Func in, Expr height, const std::string &name) {
        Pass pass{Func(name + "_blurred"), Func(name + "_turned"),
                  calotype::RDom(1, height - 1, name)};
        Func &f = pass.blurred;
        Expr down = pass.r, up = height - 1 - pass.r;
        f(x, y, c) = in(x, y, c);
        f(x, down, c) = alpha * f(x, down, c) + (1.0f - alpha) * f(x, down - 1, c);
        f(x, up, c) = alpha * f(x, up, c) + (1.0f - alpha) * f(x, up + 1, c);
        pass.turned(x, y, c) = f(y, x, c);
        passes.push_back(pass);
        return pass.turned;
    }

    Var x{"x"}, y{"y"}, c{"c"};
    std::vector<Pass> passes;
};

CALOTYPE_REGISTER_GENERATOR(IirBlur, iir_blur)
