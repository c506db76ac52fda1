// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A chain of stencils, each of 5 x 5 values of the one before: a large blur from small ones.
#include <calotype/calotype.h>

#include <string>
#include <vector>

class StencilChain : public calotype::Generator<StencilChain> {
public:
    GeneratorParam<int> stages{"stages", 12, 1, 64};
    GeneratorParam<int> group{"group", 4, 1, 64};  ///< stages whose values stay in cache

    Input<Buffer<uint16_t, 2>> input{"input"};     ///< x, y, values up to 255
    Output<Buffer<uint16_t, 2>> output{"output"};  ///< same size

    void generate() {
        Func last = calotype::BoundaryConditions::repeat_edge(input);
        for (int i = 0; i < stages; i++) {
            chain.emplace_back("stage_" + std::to_string(i));
            chain[i](x, y) = stencil(last);
            last = chain[i];
        }
        output(x, y) = last(x, y);

        input.set_estimates({{0, 1536}, {0, 2560}});
        output.set_estimates({{0, 1536}, {0, 2560}});
    }

    void schedule() {
        if (using_autoscheduler()) {
            return;
        }
        Var xi{"xi"}, yi{"yi"}, yr{"yr"};
        const int lanes = natural_vector_size<uint16_t>();
        for (int i = 0; i < stages; i++) {
            const bool ends_group = (i + 1) % group == 0 || i + 1 == stages;
            if (get_target().has_gpu_feature()) {
                // A kernel a stage; a thread makes eight rows, which share most of what they read.
                if (i + 1 < stages) {
                    chain[i].compute_root();
                }
                Func f = i + 1 < stages ? chain[i] : Func(output);
                f.tile(x, y, xi, yi, 32, 64)
                    .split(yi, yi, yr, 8)
                    .reorder(yr, xi, yi, x, y)
                    .unroll(yr)
                    .gpu_blocks(x, y)
                    .gpu_threads(xi, yi);
            } else if (ends_group) {
                // A task makes a tile of the last stage of a group, and of the others what that
                // needs, a little more each.
                Func f = i + 1 < stages ? chain[i] : Func(output);
                f.compute_root().tile(x, y, xi, yi, 4 * lanes, 64).parallel(y).vectorize(xi, lanes);
                for (int j = i - 1; j >= 0 && (j + 1) % group != 0; j--) {
                    chain[j].compute_at(f, x).vectorize(x, lanes);
                }
            }
        }
    }

private:
    /// The binomial filter: weights of values at the same distance are the same, and together they
    /// are 256, so that sums fit into 16 bits.
    Expr stencil(Func f) {
        const auto ring = [&](std::vector<std::pair<int, int>> offsets) {
            Expr sum;
            for (const auto &o : offsets) {
                Expr value = f(x + o.first, y + o.second);
                sum = sum.defined() ? sum + value : value;
            }
            return sum;
        };
        const auto weight = [](int w) {
            return cast<uint16_t>(w);
        };
        Expr sum = ring({{-2, -2}, {2, -2}, {-2, 2}, {2, 2}});
        sum += weight(4) *
               ring({{-1, -2}, {1, -2}, {-2, -1}, {2, -1}, {-2, 1}, {2, 1}, {-1, 2}, {1, 2}});
        sum += weight(6) * ring({{0, -2}, {-2, 0}, {2, 0}, {0, 2}});
        sum += weight(16) * ring({{-1, -1}, {1, -1}, {-1, 1}, {1, 1}});
        sum += weight(24) * ring({{0, -1}, {-1, 0}, {1, 0}, {0, 1}});
        sum += weight(36) * f(x, y);
        return (sum + weight(128)) >> weight(8);
    }

    Var x{"x"}, y{"y"};
    std::vector<Func> chain;
};

CALOTYPE_REGISTER_GENERATOR(StencilChain, stencil_chain)
