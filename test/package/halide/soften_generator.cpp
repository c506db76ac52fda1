// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Halide.h"

namespace {

class Soften : public Halide::Generator<Soften> {
public:
    GeneratorParam<int> weight{"weight", 2};
    Input<Buffer<uint8_t, 2>> image{"image"};
    Input<uint8_t> shift{"shift", 1};
    Input<float> unused{"unused", 0.5f, 0.0f, 1.0f};
    Output<Buffer<uint8_t, 2>> soft{"soft"};

    void generate() {
        Halide::Var x("x"), y("y");
        Halide::Expr sum = Halide::cast<uint16_t>(image(x - 1, y)) + image(x + 1, y) +
                           int(weight) * Halide::cast<uint16_t>(image(x, y));
        soft(x, y) = Halide::cast<uint8_t>((sum >> Halide::cast<uint16_t>(shift)) +
                                           Halide::cast<uint16_t>(unused * 0.0f));
        image.set_estimates({{-1, 66}, {0, 32}});
        shift.set_estimate(2);
        unused.set_estimate(0.25f);
        soft.set_estimates({{0, 64}, {0, 32}});
        if (!using_autoscheduler()) {
            soft.vectorize(x, 16, Halide::TailStrategy::GuardWithIf).parallel(y, 8);
        }
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(Soften, soften)
