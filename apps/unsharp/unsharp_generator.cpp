// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Unsharp masking: the grey image is sharpened by what a Gaussian takes from it, colours are scaled
// along.
#include <calotype/calotype.h>

#include <cmath>

class Unsharp : public calotype::Generator<Unsharp> {
public:
    GeneratorParam<float> sigma{"sigma", 1.5f};  ///< of the Gaussian, in pixels

    Input<Buffer<float, 3>> input{"input"};     ///< x, y, 3 channels, values 0 to 1
    Output<Buffer<float, 3>> output{"output"};  ///< same size

    void generate() {
        Func in = calotype::BoundaryConditions::repeat_edge(input);
        gray(x, y) = 0.299f * in(x, y, 0) + 0.587f * in(x, y, 1) + 0.114f * in(x, y, 2);
        blur_y(x, y) = gaussian([&](int i) { return gray(x, y + i); });
        Expr blurred = gaussian([&](int i) { return blur_y(x + i, y); });
        ratio(x, y) = (2.0f * gray(x, y) - blurred) / gray(x, y);
        output(x, y, c) = ratio(x, y) * in(x, y, c);
    }

    void schedule() {
        if (get_target().has_gpu_feature()) {
            schedule_for_gpu();
            return;
        }
        const int lanes = natural_vector_size<float>();
        output.bound(c, 0, 3)
            .reorder(c, x, y)
            .unroll(c)
            .split(y, yo, yi, 16)
            .parallel(yo)
            .vectorize(x, lanes);
        gray.compute_at(output, yi).store_at(output, yo).vectorize(x, lanes);
        blur_y.compute_at(output, yi).vectorize(x, lanes);
        ratio.compute_at(output, yi).vectorize(x, lanes);
    }

private:
    void schedule_for_gpu() {
        // A block makes the grey values that it needs once and keeps them, and the blurred columns,
        // in memory that its threads share.
        Var xi{"xi"}, gy{"gy"};
        output.bound(c, 0, 3).reorder(c, x, y).unroll(c).gpu_tile(x, y, xi, yi, 32, 8);
        ratio.compute_at(output, xi);
        blur_y.compute_at(output, x).gpu_threads(x, y);
        gray.compute_at(output, x).split(y, y, gy, 8).gpu_threads(x, gy);
    }

    /// The weighted sum of seven samples.
    template<typename Sample>
    Expr gaussian(Sample sample) {
        float weight[4], total = 0;
        for (int i = 0; i < 4; i++) {
            weight[i] = std::exp(-float(i * i) / (2 * float(sigma) * float(sigma)));
            total += i == 0 ? weight[i] : 2 * weight[i];
        }
        Expr sum = sample(0) * (weight[0] / total);
        for (int i = 1; i < 4; i++) {
            sum += (sample(-i) + sample(i)) * (weight[i] / total);
        }
        return sum;
    }

    Var x{"x"}, y{"y"}, c{"c"}, yo{"yo"}, yi{"yi"};
    Func gray{"gray"}, blur_y{"blur_y"}, ratio{"ratio"};
};

CALOTYPE_REGISTER_GENERATOR(Unsharp, unsharp)
