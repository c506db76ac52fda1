// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One level of Daubechies' wavelet transform with four coefficients, in both directions, and its
// inverse. Images are continued periodically, and so the inverse is exact.
#include <calotype/calotype.h>

#include <cmath>

namespace {

using calotype::Expr;
using calotype::Func;
using calotype::Var;

/// The weights that sums are made with; those of differences are the same backwards, with
/// alternating signs.
float low_pass(int i) {
    const double root = std::sqrt(3.0), scale = 4 * std::sqrt(2.0);
    const double weights[4] = {1 + root, 3 + root, 3 - root, 1 - root};
    return float(weights[i] / scale);
}

float high_pass(int i) {
    return i % 2 == 0 ? low_pass(3 - i) : -low_pass(3 - i);
}

class Wavelet : public calotype::Generator<Wavelet> {
public:
    Input<Buffer<float, 2>> input{"input"};  ///< x, y, an even number of both
    Output<Buffer<float, 3>> output{
        "output"};  ///< half of both; 4 bands: sums of sums, differences
                    ///< of x, of y, of both

    void generate() {
        Func in = calotype::BoundaryConditions::repeat_image(input);
        tall(x, y, b) = halved(b, [&](int i) { return in(x, 2 * y + i); });
        output(x, y, b) = halved(b % 2, [&](int i) { return tall(2 * x + i, y, b / 2); });

        input.set_estimates({{0, 1536}, {0, 2560}});
        output.set_estimates({{0, 768}, {0, 1280}, {0, 4}});
    }

    void schedule() {
        if (using_autoscheduler()) {
            return;
        }
        output.bound(b, 0, 4);
        if (get_target().has_gpu_feature()) {
            // A thread reads 4 x 4 pixels and makes one value of each band.
            Var xi{"xi"}, yi{"yi"};
            output.reorder(b, x, y).unroll(b).gpu_tile(x, y, xi, yi, 32, 8);
            tall.compute_at(output, xi).unroll(x).unroll(b);
            return;
        }
        const int lanes = natural_vector_size<float>();
        output.reorder(x, b, y).unroll(b).parallel(y, 8).vectorize(x, lanes);
        tall.compute_at(output, y).reorder(b, x, y).unroll(b).vectorize(x, lanes);
    }

private:
    template<typename Sample>
    static Expr halved(Expr band, Sample sample) {
        Expr low = 0.0f, high = 0.0f;
        for (int i = 0; i < 4; i++) {
            low += low_pass(i) * sample(i);
            high += high_pass(i) * sample(i);
        }
        return calotype::select(band == 0, low, high);
    }

    Var x{"x"}, y{"y"}, b{"b"};
    Func tall{"tall"};
};

class InverseWavelet : public calotype::Generator<InverseWavelet> {
public:
    Input<Buffer<float, 3>> input{"input"};     ///< x, y, 4 bands
    Output<Buffer<float, 2>> output{"output"};  ///< twice of both

    void generate() {
        Func in = calotype::BoundaryConditions::repeat_image(
            input, {{input.dim(0).min(), input.dim(0).extent()},
                    {input.dim(1).min(), input.dim(1).extent()},
                    {Expr(), Expr()}});
        wide(x, y, b) = doubled(x, [&](Expr at, int i) { return in(at, y, 2 * b + i); });
        output(x, y) = doubled(y, [&](Expr at, int i) { return wide(x, at, i); });

        input.set_estimates({{0, 768}, {0, 1280}, {0, 4}});
        output.set_estimates({{0, 1536}, {0, 2560}});
    }

    void schedule() {
        if (using_autoscheduler()) {
            return;
        }
        Var xi{"xi"}, yi{"yi"}, xp{"xp"}, yp{"yp"};
        output.align_bounds(x, 2).align_bounds(y, 2);
        if (get_target().has_gpu_feature()) {
            output.tile(x, y, xi, yi, 64, 16)
                .tile(xi, yi, xp, yp, 2, 2)
                .reorder(xp, yp, xi, yi, x, y)
                .unroll(xp)
                .unroll(yp)
                .gpu_blocks(x, y)
                .gpu_threads(xi, yi);
            return;
        }
        // Rows come in pairs: an even and an odd one are made from the same.
        const int lanes = natural_vector_size<float>();
        output.split(y, y, yi, 16)
            .split(yi, yi, yp, 2)
            .reorder(yp, x, yi, y)
            .unroll(yp)
            .parallel(y)
            .vectorize(x, 2 * lanes);
        wide.store_at(output, y)
            .compute_at(output, yi)
            .reorder(b, x, y)
            .bound(b, 0, 2)
            .unroll(b)
            .align_bounds(x, 2)
            .vectorize(x, 2 * lanes);
    }

private:
    /// Pixel i of twice as many: sample(at, 0) are the sums, sample(at, 1) the differences.
    template<typename Sample>
    static Expr doubled(Expr i, Sample sample) {
        Expr at = i / 2, even = 0.0f, odd = 0.0f;
        for (int j = 0; j < 2; j++) {
            even += low_pass(2 * j) * sample(at - j, 0) + high_pass(2 * j) * sample(at - j, 1);
            odd +=
                low_pass(2 * j + 1) * sample(at - j, 0) + high_pass(2 * j + 1) * sample(at - j, 1);
        }
        return calotype::select(i % 2 == 0, even, odd);
    }

    Var x{"x"}, y{"y"}, b{"b"};
    Func wide{"wide"};
};

}  // namespace

CALOTYPE_REGISTER_GENERATOR(Wavelet, wavelet)
CALOTYPE_REGISTER_GENERATOR(InverseWavelet, inverse_wavelet)
