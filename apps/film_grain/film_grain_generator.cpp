// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Grain as of film: random numbers of a library, softened a little, strongest in the middle tones.
#include <calotype/calotype.h>

class FilmGrain : public calotype::Generator<FilmGrain> {
public:
    LinkableParam source{"grain"};  ///< has float grain_next(int pixel)

    Input<Buffer<float, 3>> input{"input"};     ///< x, y, channel; values 0 to 1
    Input<float> strength{"strength"};          ///< standard deviation in the middle tones
    Output<Buffer<float, 3>> output{"output"};  ///< same size

    void generate() {
        Expr pixel = y * input.width() + x;
        // Each number is drawn once: the library's state goes on with every call.
        drawn(x, y) =
            calotype::extern_device_call(source, "grain_next", calotype::Float(32), {pixel});
        Func around = calotype::BoundaryConditions::repeat_edge(
            drawn, {{0, input.width()}, {0, input.height()}});
        // One grain is a little larger than a pixel.
        Expr soft = 0.6f * around(x, y) + 0.35f * (around(x - 1, y) + around(x + 1, y) +
                                                   around(x, y - 1) + around(x, y + 1));
        Expr light = input(x, y, c);
        output(x, y, c) =
            calotype::clamp(light + strength * 4 * light * (1 - light) * soft, 0.0f, 1.0f);
    }

    void schedule() {
        using calotype::TailStrategy;
        output.bound(c, 0, 3).reorder(c, x, y).unroll(c);
        drawn.compute_root();
        if (get_target().has_gpu_feature()) {
            output.gpu_tile(x, y, xi, yi, 32, 8);
            // No more pixels than there are: the library has no generators for others.
            drawn.gpu_tile(x, y, xi, yi, 32, 8, TailStrategy::GuardWithIf);
        } else {
            output.parallel(y, 8).vectorize(x, natural_vector_size<float>());
            drawn.parallel(y, 8, TailStrategy::GuardWithIf);
        }
    }

private:
    Var x{"x"}, y{"y"}, c{"c"}, xi{"xi"}, yi{"yi"};
    Func drawn{"drawn"};
};

CALOTYPE_REGISTER_GENERATOR(FilmGrain, film_grain)
