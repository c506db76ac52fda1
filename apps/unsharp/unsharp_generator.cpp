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
        in(x, y, c) = calotype::BoundaryConditions::repeat_edge(input)(x, y, c);
        gray(x, y) = 0.299f * in(x, y, 0) + 0.587f * in(x, y, 1) + 0.114f * in(x, y, 2);
        blur_y(x, y) = gaussian([&](int i) { return gray(x, y + i); });
        Expr blurred = gaussian([&](int i) { return blur_y(x + i, y); });
        ratio(x, y) = (2.0f * gray(x, y) - blurred) / gray(x, y);
        output(x, y, c) = ratio(x, y) * in(x, y, c);

        input.set_estimates({{0, 2560}, {0, 1600}, {0, 3}});
        output.set_estimates({{0, 2560}, {0, 1600}, {0, 3}});
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
            .split(y, yo, yi, 16)
            .parallel(yo)
            .vectorize(x, lanes);
        gray.compute_at(output, yi).store_at(output, yo).vectorize(x, lanes);
        blur_y.compute_at(output, yi).vectorize(x, lanes);
        ratio.compute_at(output, yi).vectorize(x, lanes);
    }

private:
    void schedule_for_gpu() {
        // A block copies what it needs of the image into memory that its threads share, and makes
        // the blurred columns there; each is read from far fewer places than it is used in. Threads
        // are counted through, so that each stage cuts its work as it likes: columns of eight, of
        // which 126 are four warps less two threads, and in the end four rows of pairs.
        Var xi{"xi"}, xv{"xv"}, yt{"yt"}, gy{"gy"}, t{"t"};
        const int width = 120, height = 16;
        output.bound(c, 0, 3)
            .split(y, y, yi, height)
            .split(yi, yt, yi, 4)
            .split(x, x, xi, width)
            .split(xi, xi, xv, 2)
            .reorder(xv, c, yi, xi, yt, x, y)
            .vectorize(xv)
            .unroll(c)
            .fuse(xi, yt, t)
            .gpu_blocks(x, y)
            .gpu_threads(t);
        ratio.compute_at(output, yi).vectorize(x);
        blur_y.compute_at(output, x)
            .align_storage(x, 2)
            .split(y, y, gy, 8)
            .reorder(gy, x, y)
            .unroll(gy)
            .fuse(x, y, t)
            .gpu_threads(t);
        in.compute_at(output, x)
            .split(y, y, gy, (height + 6) / 2)
            .reorder(c, gy, x, y)
            .unroll(c)
            .unroll(gy)
            .fuse(x, y, t)
            .gpu_threads(t);
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
    Func in{"in"}, gray{"gray"}, blur_y{"blur_y"}, ratio{"ratio"};
};

CALOTYPE_REGISTER_GENERATOR(Unsharp, unsharp)
