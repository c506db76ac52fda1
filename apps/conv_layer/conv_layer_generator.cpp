// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A layer of a convolutional network: 3 x 3 filters over all input channels, a bias, and a
// rectifier.
#include <calotype/calotype.h>

class ConvLayer : public calotype::Generator<ConvLayer> {
public:
    Input<Buffer<float, 4>> input{"input"};     ///< channel, x, y, image: 2 more of x and y
    Input<Buffer<float, 4>> filter{"filter"};   ///< output channel, input channel, 3 of x, 3 of y
    Input<Buffer<float, 1>> bias{"bias"};       ///< output channel
    Output<Buffer<float, 4>> output{"output"};  ///< channel, x, y, image

    void generate() {
        r = calotype::RDom(0, input.dim(0).extent(), 0, 3, 0, 3, "r");
        sum(c, x, y, n) = bias(c);
        sum(c, x, y, n) += filter(c, r.x, r.y, r.z) * input(r.x, x + r.y, y + r.z, n);
        output(c, x, y, n) = calotype::max(sum(c, x, y, n), 0.0f);

        input.dim(0).set_min(0);
        filter.dim(0).set_min(0);
        filter.dim(1).set_bounds(0, input.dim(0).extent());
        filter.dim(2).set_bounds(0, 3);
        filter.dim(3).set_bounds(0, 3);
        bias.dim(0).set_bounds(0, filter.dim(0).extent());
        output.dim(0).set_bounds(0, filter.dim(0).extent());

        input.set_estimates({{0, 64}, {0, 98}, {0, 82}, {0, 2}});
        filter.set_estimates({{0, 64}, {0, 64}, {0, 3}, {0, 3}});
        bias.set_estimates({{0, 64}});
        output.set_estimates({{0, 64}, {0, 96}, {0, 80}, {0, 2}});
    }

    void schedule() {
        if (using_autoscheduler()) {
            return;
        }
        Var ci{"ci"}, xi{"xi"};
        if (get_target().has_gpu_feature()) {
            // A thread keeps 4 channels of 4 pixels in registers; a block has 32 channels of 32.
            Var ct{"ct"}, xt{"xt"};
            output.fuse(y, n, y)
                .tile(c, x, ci, xi, 32, 32)
                .tile(ci, xi, ct, xt, ci, xi, 4, 4)
                .gpu_blocks(c, x, y)
                .gpu_threads(ct, xt)
                .vectorize(ci)
                .unroll(xi);
            sum.compute_at(output, ct)
                .bound_extent(c, 4)
                .bound_extent(x, 4)
                .bound_extent(y, 1)
                .bound_extent(n, 1)
                .store_in(MemoryType::Register)
                .unroll(c)
                .unroll(x);
            sum.update().reorder(c, x, r.x, r.y, r.z).unroll(c).unroll(x);
            return;
        }
        // As many sums as there are vector registers, but for a few: each step reads two vectors
        // of the filter and one number for each pixel.
        const int lanes = natural_vector_size<float>();
        const int pixels = get_target().has_feature(calotype::Target::AVX512_Skylake) ? 10 : 5;
        output.tile(c, x, ci, xi, 2 * lanes, pixels)
            .reorder(ci, xi, c, x, y, n)
            .vectorize(ci, lanes)
            .unroll(ci)
            .unroll(xi)
            .parallel(y)
            .parallel(n);
        sum.compute_at(output, c)
            .bound_extent(c, 2 * lanes)
            .vectorize(c, lanes)
            .unroll(c)
            .unroll(x);
        sum.update()
            .reorder(c, x, r.x, r.y, r.z, y, n)
            .vectorize(c, lanes)
            .unroll(c)
            .unroll(x)
            .unroll(r.x, 2);
    }

private:
    Var c{"c"}, x{"x"}, y{"y"}, n{"n"};
    calotype::RDom r;
    Func sum{"sum"};
};

CALOTYPE_REGISTER_GENERATOR(ConvLayer, conv_layer)
