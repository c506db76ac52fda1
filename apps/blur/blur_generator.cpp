// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A 3 x 3 box blur of 16-bit images, borders repeated: the smallest pipeline in which the schedule
// matters.
#include <calotype/calotype.h>

class Blur : public calotype::Generator<Blur> {
public:
    GeneratorParam<int> rows{"rows", 32, 1, 1024};  ///< rows of the result that one task computes

    Input<Buffer<uint16_t, 3>> input{"input"};     ///< x, y, channel
    Output<Buffer<uint16_t, 3>> output{"output"};  ///< same size

    void generate() {
        Func clamped = calotype::BoundaryConditions::repeat_edge(input);
        blur_x(x, y, c) = (clamped(x - 1, y, c) + clamped(x, y, c) + clamped(x + 1, y, c)) / 3;
        output(x, y, c) = (blur_x(x, y - 1, c) + blur_x(x, y, c) + blur_x(x, y + 1, c)) / 3;

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
        // Each task keeps the rows of blur_x that it still needs, so that every value is computed
        // once and read from cache.
        const int lanes = natural_vector_size<uint16_t>();
        output.split(y, y, yi, rows).parallel(y).parallel(c).vectorize(x, lanes);
        blur_x.store_at(output, y).compute_at(output, yi).vectorize(x, lanes);
    }

private:
    void schedule_for_gpu() {
        // A thread makes four rows of eight pixels, which are one access of memory each, and keeps
        // the six rows of blur_x that they need in registers; neighbours share what they read by
        // way of the cache. Blocks are small, so that few of them meet a border.
        Var xi{"xi"}, xv{"xv"}, yt{"yt"};
        output.split(x, x, xv, 8)
            .split(x, x, xi, 32)
            .split(y, y, yi, 4)
            .split(y, y, yt, 2)
            .reorder(xv, yi, xi, yt, x, y, c)
            .vectorize(xv)
            .unroll(yi)
            .gpu_blocks(x, y, c)
            .gpu_threads(xi, yt);
        blur_x.compute_at(output, xi).vectorize(x).unroll(y);
    }

    Var x{"x"}, y{"y"}, c{"c"}, yi{"yi"};
    Func blur_x{"blur_x"};
};

CALOTYPE_REGISTER_GENERATOR(Blur, blur)
