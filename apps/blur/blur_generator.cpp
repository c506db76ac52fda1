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
    }

    void schedule() {
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
        // A thread makes four pixels below each other and keeps the six rows of blur_x that they
        // need in registers; neighbours share what they read by way of the cache. All blocks run
        // the same code: without the tests of the borders it takes more registers, and is slower.
        Var xi{"xi"}, yt{"yt"};
        output.split(y, y, yi, 4)
            .split(y, y, yt, 4)
            .split(x, x, xi, 64)
            .reorder(yi, xi, yt, x, y, c)
            .unroll(yi)
            .gpu_blocks(x, y, c)
            .gpu_threads(xi, yt)
            .never_partition(x, y, c);
        blur_x.compute_at(output, xi).unroll(y);
    }

    Var x{"x"}, y{"y"}, c{"c"}, yi{"yi"};
    Func blur_x{"blur_x"};
};

CALOTYPE_REGISTER_GENERATOR(Blur, blur)
