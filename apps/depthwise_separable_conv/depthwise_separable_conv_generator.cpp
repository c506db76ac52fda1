// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A layer of a small convolutional network: each channel has a 3 x 3 filter of its own, then each
// pixel's channels are mixed; a bias, and a rectifier.
#include <calotype/calotype.h>

class DepthwiseSeparableConv : public calotype::Generator<DepthwiseSeparableConv> {
public:
    Input<Buffer<float, 4>> input{"input"};          ///< channel, x, y, image: 2 more of x and y
    Input<Buffer<float, 3>> depthwise{"depthwise"};  ///< channel, 3 of x, 3 of y
    Input<Buffer<float, 2>> pointwise{"pointwise"};  ///< output channel, channel
    Input<Buffer<float, 1>> bias{"bias"};            ///< output channel
    Output<Buffer<float, 4>> output{"output"};       ///< channel, x, y, image

    void generate() {
        Expr filtered_at;
        for (int j = 0; j < 3; j++) {
            for (int i = 0; i < 3; i++) {
                Expr product = depthwise(k, i, j) * input(k, x + i, y + j, n);
                filtered_at = filtered_at.defined() ? filtered_at + product : product;
            }
        }
        filtered(k, x, y, n) = filtered_at;
        r = calotype::RDom(0, input.dim(0).extent(), "r");
        sum(c, x, y, n) = bias(c);
        sum(c, x, y, n) += pointwise(c, r) * filtered(r, x, y, n);
        output(c, x, y, n) = calotype::max(sum(c, x, y, n), 0.0f);

        Expr channels = input.dim(0).extent();
        input.dim(0).set_min(0);
        depthwise.dim(0).set_bounds(0, channels);
        depthwise.dim(1).set_bounds(0, 3);
        depthwise.dim(2).set_bounds(0, 3);
        pointwise.dim(0).set_min(0);
        pointwise.dim(1).set_bounds(0, channels);
        bias.dim(0).set_bounds(0, pointwise.dim(0).extent());
        output.dim(0).set_bounds(0, pointwise.dim(0).extent());

        input.set_estimates({{0, 32}, {0, 114}, {0, 114}, {0, 4}});
        depthwise.set_estimates({{0, 32}, {0, 3}, {0, 3}});
        pointwise.set_estimates({{0, 64}, {0, 32}});
        bias.set_estimates({{0, 64}});
        output.set_estimates({{0, 64}, {0, 112}, {0, 112}, {0, 4}});
    }

    void schedule() {
        if (using_autoscheduler()) {
            return;
        }
        Var ci{"ci"}, xi{"xi"}, ct{"ct"}, xt{"xt"}, t{"t"};
        if (get_target().has_gpu_feature()) {
            // A block filters the channels of 32 pixels into shared memory; then a thread mixes 4
            // channels of 4 pixels.
            output.fuse(y, n, y)
                .tile(c, x, ci, xi, 32, 32)
                .tile(ci, xi, ct, xt, ci, xi, 4, 4)
                .reorder(ci, xi, ct, xt, c, x, y)
                .gpu_blocks(c, x, y)
                .gpu_threads(ct, xt)
                .unroll(ci)
                .unroll(xi);
            sum.compute_at(output, ct)
                .bound_extent(c, 4)
                .bound_extent(x, 4)
                .bound_extent(y, 1)
                .bound_extent(n, 1)
                .store_in(MemoryType::Register)
                .unroll(c)
                .unroll(x);
            sum.update().reorder(c, x, r).unroll(c).unroll(x);
            filtered.compute_at(output, c)
                .split(k, k, ct, 8, TailStrategy::GuardWithIf)
                .split(x, x, xt, 8)
                .reorder(k, x, ct, xt)
                .gpu_threads(ct, xt);
            return;
        }
        // The filtered channels of a few pixels are made when their first results are, and stay in
        // the first-level cache for the others.
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
        sum.update().reorder(c, x, r, y, n).vectorize(c, lanes).unroll(c).unroll(x);
        filtered.compute_at(output, x).vectorize(k, lanes, TailStrategy::GuardWithIf).reorder(x, k);
    }

private:
    Var c{"c"}, x{"x"}, y{"y"}, n{"n"}, k{"k"};
    calotype::RDom r;
    Func filtered{"filtered"}, sum{"sum"};
};

CALOTYPE_REGISTER_GENERATOR(DepthwiseSeparableConv, depthwise_separable_conv)
